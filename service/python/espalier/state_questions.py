"""Every question about a state of a server."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from espalier import encode, model, questions
from espalier.answers import WorkloadAnswer
from espalier.connection import Connection
from espalier.decode import loaded_state, position
from espalier.holds import Hold, holds
from espalier.kueue import Queues, Workload, encode_queues, encode_workload
from espalier.results import (
    Atlas,
    Capacity,
    Cycles,
    Defragmentation,
    Drain,
    Explanation,
    FlavorSummary,
    ResizePlan,
    Summary,
    Validation,
    Victims,
    WhatIf,
)
from espalier.v1 import (
    cluster_state_pb2,
    holds_pb2,
    placement_pb2,
    questions_pb2,
    scheduling_pb2,
)

Gates = Mapping[str, bool]
_NAMES = placement_pb2.DOMAIN_NAMING_NAME


class StateQuestions:
    """The questions about a state of a server, which change nothing. They are answered on
    `position`, or on whatever is current where it is None. CallError where a call fails,
    StaleStateError where the position is not the current one."""

    def __init__(
        self, connection: Connection, name: str = "", at: model.Position | None = None
    ) -> None:
        self._connection = connection
        self.name = name
        self.position = at

    @property
    def address(self) -> str:
        return self._connection.address

    # What is loaded.

    def summary(self) -> Summary:
        """Returns what is loaded, in outline, and its checksum."""
        reply = self._connection.unary(
            "ClusterState/GetStateSummary",
            cluster_state_pb2.GetStateSummaryRequest(state_name=self.name),
            cluster_state_pb2.GetStateSummaryResponse,
        )
        return Summary(
            position(reply.state),
            reply.nodes,
            tuple(
                FlavorSummary(
                    one.name,
                    tuple(one.levels),
                    tuple(one.domain_counts),
                    one.nodes,
                    tuple(one.resources),
                )
                for one in reply.flavors
            ),
            reply.checksum,
            reply.workloads,
            reply.kueue_configuration,
            reply.holds,
        )

    def read(self) -> model.LoadedState:
        """Returns the whole state, as `Client.load_state` would load it anew."""
        request = cluster_state_pb2.ReadStateRequest()
        self._address(request)
        return loaded_state(
            self._connection.answers(
                "ClusterState/ReadState", request, cluster_state_pb2.ReadStateResponse
            )
        )

    def leaves(self, flavor: str) -> Iterator[tuple[str, ...]]:
        """Returns the level values of every leaf of a flavor, in the order of their indexes."""
        first, at = 0, self.position
        while True:
            page = self._connection.unary(
                "ClusterState/ListLeaves",
                cluster_state_pb2.ListLeavesRequest(
                    state=encode.position(at), flavor=flavor, first=first, state_name=self.name
                ),
                cluster_state_pb2.ListLeavesResponse,
            )
            at = position(page.state)  # all pages are of one state
            width = len(page.levels)
            leaves = len(page.values) // width if width else 0
            for leaf in range(leaves):
                yield tuple(page.values[leaf * width : (leaf + 1) * width])
            first += leaves
            if not leaves or first >= page.total:
                return

    def list_holds(self, *, usage: bool = False) -> list[Hold]:
        """Returns the holds of the state as it is, by id; with `usage` also what each uses."""
        request = holds_pb2.ListHoldsRequest(state_name=self.name, usage=usage)
        pages = self._connection.answers(
            "Placement/ListHolds", request, holds_pb2.ListHoldsResponse
        )
        return [one for page in pages for one in holds(page)]

    # What if.

    def what_if(
        self,
        asked: Sequence[model.Question],
        *,
        placements: bool = False,
        empty_nodes: bool = False,
        gates: Gates | None = None,
    ) -> list[WhatIf]:
        """Answers whether, and with `placements` where, workloads fit on changed states."""
        request = questions.what_if_request(asked)
        request.feature_gates.update(gates or {})
        request.placements = placements
        request.empty_nodes = empty_nodes
        self._address(request)
        replies = self._connection.answers(
            "Questions/WhatIf", request, questions_pb2.WhatIfResponse
        )
        return questions.what_ifs(replies, asked, placements)

    def victims(
        self,
        workloads: Sequence[model.WorkloadRequest],
        candidates: Sequence[model.Victim],
        *,
        drained: Sequence[str] = (),
        upserted: Sequence[model.Node] = (),
        cheapest: bool = False,
        gates: Gates | None = None,
    ) -> list[Victims]:
        """Answers for each workload who has to go, of candidates in order, or at least cost."""
        tables = encode.Tables()
        request = questions_pb2.FindVictimsRequest(
            feature_gates=gates,
            domain_naming=_NAMES,
            workloads=encode.workload_batch(workloads),
            victims=encode.victims(candidates),
            drained_nodes=drained,
            upserted_nodes=[tables.node(one) for one in upserted],
            cheapest=cheapest,
        )
        request.strings.extend(tables.strings())
        self._address(request)
        replies = self._connection.answers(
            "Questions/FindVictims", request, questions_pb2.FindVictimsResponse
        )
        return questions.victims(replies, workloads, candidates)

    def atlas(
        self,
        workloads: Sequence[model.WorkloadRequest],
        *,
        candidates: Sequence[model.Victim] | None = None,
        drained: Sequence[str] = (),
        gates: Gates | None = None,
    ) -> Atlas:
        """Answers for each workload and domain up to which priority everybody would have to go, of
        the candidates alone or of all workloads that the state knows."""
        request = questions_pb2.AtlasRequest(
            feature_gates=gates,
            workloads=encode.workload_batch(workloads),
            victims=None if candidates is None else encode.victims(candidates),
            drained_nodes=drained,
        )
        self._address(request)
        replies = self._connection.answers("Questions/Atlas", request, questions_pb2.AtlasResponse)
        return questions.atlas(replies, len(workloads))

    def capacity(
        self,
        shapes: Sequence[model.WorkloadRequest],
        *,
        levels: Sequence[str] = (),
        drained: Sequence[str] = (),
        domains: bool = False,
        all_domains: bool = False,
        gates: Gates | None = None,
    ) -> list[Capacity]:
        """Answers how many more gangs of each shape, of one pod set, fit at each level."""
        request = questions_pb2.CountGangsRequest(
            feature_gates=gates,
            shapes=encode.workload_batch(shapes),
            levels=levels,
            drained_nodes=drained,
            domains=domains,
            all_domains=all_domains,
        )
        self._address(request)
        replies = self._connection.answers(
            "Questions/CountGangs", request, questions_pb2.CountGangsResponse
        )
        return questions.capacities(replies, shapes)

    def explain(
        self,
        workloads: Sequence[model.WorkloadRequest],
        *,
        candidates: Sequence[model.Victim] | None = None,
        gates: Gates | None = None,
    ) -> list[Explanation]:
        """Answers why workloads do not fit, and which small changes would let them. Tried are the
        candidates alone, or all workloads that the state knows."""
        request = questions_pb2.ExplainRequest(
            feature_gates=gates,
            domain_naming=_NAMES,
            workloads=encode.workload_batch(workloads),
            victims=None if candidates is None else encode.victims(candidates),
        )
        self._address(request)
        replies = self._connection.answers(
            "Questions/Explain", request, questions_pb2.ExplainResponse
        )
        return questions.explanations(replies, workloads)

    # What is, and who moves.

    def validate(self, workloads: Sequence[Workload], *, gates: Gates | None = None) -> Validation:
        """Answers whether admissions are within capacity and constraints, beside all that runs."""
        tables = encode.Tables()
        request = questions_pb2.ValidateRequest(
            feature_gates=gates, workloads=[encode_workload(one, tables) for one in workloads]
        )
        tables.write_to(request)
        self._address(request)
        reply = self._connection.unary(
            "Questions/Validate", request, questions_pb2.ValidateResponse
        )
        return questions.validation(reply)

    def drain(
        self,
        nodes: Sequence[str],
        workloads: Sequence[model.WorkloadRequest] = (),
        *,
        gates: Gates | None = None,
    ) -> Drain:
        """Answers whom a drain hits, and where those of them go that are described."""
        request = questions_pb2.DrainRequest(
            feature_gates=gates,
            domain_naming=_NAMES,
            nodes=nodes,
            workloads=encode.workload_batch(workloads),
        )
        self._address(request)
        reply = self._connection.unary("Questions/Drain", request, questions_pb2.DrainResponse)
        return questions.drain(reply, workloads)

    def defragment(
        self,
        level: str,
        workloads: Sequence[model.WorkloadRequest],
        *,
        most_moves: int,
        flavor: str = "",
        gates: Gates | None = None,
    ) -> Defragmentation:
        """Answers which of the gangs to move so that whole domains of a level become free."""
        request = questions_pb2.DefragmentRequest(
            feature_gates=gates,
            domain_naming=_NAMES,
            level=level,
            flavor=flavor,
            most_moves=most_moves,
            workloads=encode.workload_batch(workloads),
        )
        self._address(request)
        reply = self._connection.unary(
            "Questions/Defragment", request, questions_pb2.DefragmentResponse
        )
        return questions.defragmentation(reply, workloads)

    def replay(
        self,
        workloads: Sequence[model.WorkloadRequest],
        chosen: Mapping[int, Sequence[model.LeafUsage]],
        *,
        ended: Sequence[model.WorkloadKey] = (),
        gates: Gates | None = None,
    ) -> list[WorkloadAnswer]:
        """Answers what is decided about workloads in order, where each was then given what `chosen`
        has at its position."""
        tables = encode.Tables()
        request = questions_pb2.ReplayRequest(
            feature_gates=gates,
            domain_naming=_NAMES,
            workloads=encode.workload_batch(workloads),
            chosen=[
                questions_pb2.ChosenPlace(
                    workload=w, usage=[tables.leaf_usage(one) for one in chosen[w]]
                )
                for w in sorted(chosen)
            ],
            ended=[
                questions_pb2.WorkloadName(namespace=one.namespace, name=one.name) for one in ended
            ],
        )
        request.strings.extend(tables.strings())
        self._address(request)
        replies = self._connection.answers(
            "Questions/Replay", request, questions_pb2.ReplayResponse
        )
        return questions.replayed(replies, workloads)

    # Queues.

    def cycle(
        self,
        queues: Queues,
        *,
        until_stable: bool = False,
        release_stopped: bool = False,
        now_seconds: int | None = None,
        profile: model.Profile = model.Profile.KUEUE,
        gates: Gates | None = None,
    ) -> Cycles:
        """Answers what Kueue's scheduler would decide next."""
        tables = encode.Tables()
        request = self._cycle_request(queues, profile, gates, tables)
        tables.write_to(request)
        request.until_stable = until_stable
        request.release_stopped = release_stopped
        if now_seconds is not None:
            request.now_seconds = now_seconds
        reply = self._connection.unary("Scheduling/Cycle", request, scheduling_pb2.CycleResponse)
        return questions.cycles(reply)

    def plan_resize(
        self,
        queues: Queues,
        workload: model.WorkloadKey,
        counts: Mapping[str, int],
        *,
        per_replica: bool = False,
        profile: model.Profile = model.Profile.KUEUE,
        gates: Gates | None = None,
    ) -> ResizePlan:
        """Answers what another size of an elastic workload takes. ValueError where the workload is
        not among the queues'."""
        keys = [one.key for one in queues.workloads]
        if workload not in keys:
            raise ValueError(f"{workload}: is not among the workloads of the queues")
        tables = encode.Tables()
        request = scheduling_pb2.PlanResizeRequest(
            objects=self._cycle_request(queues, model.Profile.KUEUE, gates, tables),
            workload=keys.index(workload),
            counts=[
                scheduling_pb2.PodSetCount(name=tables.text(name), count=count)
                for name, count in counts.items()
            ],
            slice_mode=(
                scheduling_pb2.SLICE_MODE_PER_REPLICA
                if per_replica
                else scheduling_pb2.SLICE_MODE_REPLACEMENT
            ),
            profile=(
                scheduling_pb2.RESIZE_PROFILE_KUEUE
                if profile is model.Profile.KUEUE
                else scheduling_pb2.RESIZE_PROFILE_ESPALIER
            ),
        )
        tables.write_to(request.objects)
        reply = self._connection.unary(
            "Scheduling/PlanResize", request, scheduling_pb2.PlanResizeResponse
        )
        return questions.resize_plan(reply)

    def _cycle_request(
        self,
        queues: Queues,
        profile: model.Profile,
        gates: Gates | None,
        tables: encode.Tables,
    ) -> scheduling_pb2.CycleRequest:
        request = scheduling_pb2.CycleRequest(feature_gates=gates, profile=encode.PROFILES[profile])
        encode_queues(queues, tables, request)
        self._address(request)
        return request

    def _address(self, request: questions.AboutState) -> None:
        request.state_name = self.name
        if self.position is not None:
            request.state.epoch, request.state.generation = self.position
