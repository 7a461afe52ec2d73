"""Messages of questions, and what their answers say."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

from espalier import encode, model, results
from espalier.answers import WorkloadAnswer, workload_answers
from espalier.decode import Texts
from espalier.kueue import decode_workload
from espalier.model import WorkloadKey
from espalier.v1 import (
    cluster_state_pb2,
    placement_pb2,
    questions_pb2,
    scheduling_pb2,
    workload_pb2,
    workloads_pb2,
)

AboutState = (
    cluster_state_pb2.ReadStateRequest
    | placement_pb2.PlaceRequest
    | workloads_pb2.PlaceObjectsRequest
    | workloads_pb2.PlaceNestedRequest
    | questions_pb2.WhatIfRequest
    | questions_pb2.FindVictimsRequest
    | questions_pb2.AtlasRequest
    | questions_pb2.CountGangsRequest
    | questions_pb2.ExplainRequest
    | questions_pb2.ValidateRequest
    | questions_pb2.DrainRequest
    | questions_pb2.DefragmentRequest
    | questions_pb2.ReplayRequest
    | scheduling_pb2.CycleRequest
)

_Reply = TypeVar("_Reply")
_NAMES = placement_pb2.DOMAIN_NAMING_NAME
_DECISIONS = {
    scheduling_pb2.DECISION_STATUS_ASSUMED: results.DecisionStatus.ASSUMED,
    scheduling_pb2.DECISION_STATUS_NOT_ADMITTED: results.DecisionStatus.NOT_ADMITTED,
    scheduling_pb2.DECISION_STATUS_REPLACED: results.DecisionStatus.REPLACED,
    scheduling_pb2.DECISION_STATUS_EVICTED: results.DecisionStatus.EVICTED,
    scheduling_pb2.DECISION_STATUS_KEPT: results.DecisionStatus.KEPT,
}
_RESIZES = {
    scheduling_pb2.RESIZE_DECISION_NONE: results.ResizeDecision.NONE,
    scheduling_pb2.RESIZE_DECISION_IN_PLACE: results.ResizeDecision.IN_PLACE,
    scheduling_pb2.RESIZE_DECISION_NEW_SLICE: results.ResizeDecision.NEW_SLICE,
    scheduling_pb2.RESIZE_DECISION_SLICES_PER_REPLICA: results.ResizeDecision.SLICES_PER_REPLICA,
    scheduling_pb2.RESIZE_DECISION_REFUSED: results.ResizeDecision.REFUSED,
}


def what_if_request(asked: Sequence[model.Question]) -> questions_pb2.WhatIfRequest:
    tables = encode.Tables()
    workloads: list[model.WorkloadRequest] = []
    workload_numbers: dict[int, int] = {}
    who: list[model.Victim] = []
    victim_numbers: dict[WorkloadKey, int] = {}
    drained: dict[str, int] = {}
    nodes: list[model.Node] = []
    request = questions_pb2.WhatIfRequest(domain_naming=_NAMES)
    for offsets in (request.victim_offsets, request.drained_offsets, request.upserted_offsets):
        offsets.append(0)
    for one in asked:
        if id(one.workload) not in workload_numbers:
            workload_numbers[id(one.workload)] = len(workloads)
            workloads.append(one.workload)
        request.question_workloads.append(workload_numbers[id(one.workload)])
        for victim in one.without:
            key = WorkloadKey(victim.namespace, victim.name)
            if key not in victim_numbers:
                victim_numbers[key] = len(who)
                who.append(victim)
            elif who[victim_numbers[key]] != victim:
                raise ValueError(f"{key}: gives back different amounts in two questions")
            request.question_victims.append(victim_numbers[key])
        for name in one.drained:
            request.question_drained.append(drained.setdefault(name, len(drained)))
        for node in one.upserted:
            if node not in nodes:
                nodes.append(node)
            request.question_upserted.append(nodes.index(node))
        request.victim_offsets.append(len(request.question_victims))
        request.drained_offsets.append(len(request.question_drained))
        request.upserted_offsets.append(len(request.question_upserted))
    if not request.question_victims:
        del request.victim_offsets[:]
    if not request.question_drained:
        del request.drained_offsets[:]
    if not request.question_upserted:
        del request.upserted_offsets[:]
    request.workloads.CopyFrom(encode.workload_batch(workloads))
    request.victims.CopyFrom(encode.victims(who))
    request.drained_nodes.extend(tables.texts(drained))
    request.upserted_nodes.extend(tables.node(one) for one in nodes)
    request.strings.extend(tables.strings())
    return request


def what_ifs(
    replies: Iterable[questions_pb2.WhatIfResponse],
    asked: Sequence[model.Question],
    placements: bool,
) -> list[results.WhatIf]:
    answered: list[results.WhatIf] = []
    for reply in replies:
        part = [one.workload for one in asked[len(answered) : len(answered) + len(reply.fits)]]
        answers: Sequence[WorkloadAnswer | None] = [None] * len(part)
        if placements:
            answers = workload_answers(reply.answers, part)
        answered.extend(map(results.WhatIf, reply.fits, answers))
    return answered


def victims(
    replies: Iterable[questions_pb2.FindVictimsResponse],
    workloads: Sequence[model.WorkloadRequest],
    candidates: Sequence[model.Victim],
) -> list[results.Victims]:
    keys = [WorkloadKey(one.namespace, one.name) for one in candidates]
    return [
        results.Victims(
            reply.fits,
            reply.prefix,
            tuple(keys[one] for one in reply.targets),
            _answer(reply.answers, workloads[reply.workload]),
            tuple(
                results.DomainVictims(
                    domain.flavor,
                    tuple(domain.values),
                    tuple(
                        results.VictimSet(
                            tuple(keys[victim] for victim in one.victims),
                            one.priority,
                            one.accelerators,
                        )
                        for one in domain.sets
                    ),
                    domain.exact,
                )
                for domain in reply.domains
            ),
        )
        for reply in _one_each(replies, len(workloads))
    ]


def atlas(replies: Iterable[questions_pb2.AtlasResponse], workloads: int) -> results.Atlas:
    priorities: list[int] = []
    levels: list[questions_pb2.AtlasLevel] = []
    domains: list[list[results.Values]] = []  # by level
    rows: dict[int, results.AtlasRow] = {}
    for reply in replies:
        priorities.extend(reply.priorities)
        for level in reply.levels:
            width = len(level.values) // level.domains if level.domains else 0
            levels.append(level)
            domains.append(
                [tuple(level.values[d * width : (d + 1) * width]) for d in range(level.domains)]
            )
        for one in reply.rows:
            row = results.AtlasRow("", "", {}, one.anywhere)
            if one.HasField("level"):
                level = levels[one.level]
                steps = dict(zip(domains[one.level], one.steps, strict=True))
                row = results.AtlasRow(level.flavor, level.level, steps, one.anywhere)
            rows.update(dict.fromkeys(one.workloads, row))
    return results.Atlas(tuple(priorities), tuple(rows[one] for one in range(workloads)))


def capacities(
    replies: Iterable[questions_pb2.CountGangsResponse],
    shapes: Sequence[model.WorkloadRequest],
) -> list[results.Capacity]:
    answered = []
    for reply in _one_each(replies, len(shapes)):
        shape = shapes[reply.shape]
        levels = []
        for census in reply.levels:
            # The values of a domain are one per level, down to this one.
            width = len(census.values) // len(census.domain_gangs) if census.domain_gangs else 0
            domains = tuple(
                results.DomainRoom(
                    tuple(census.values[d * width : (d + 1) * width]),
                    gangs,
                    census.domain_pods[d],
                )
                for d, gangs in enumerate(census.domain_gangs)
            )
            levels.append(results.LevelRoom(census.level, census.gangs, domains))
        answered.append(
            results.Capacity(shape.name, shape.pod_sets[0].flavor, reply.failure, tuple(levels))
        )
    return answered


def explanations(
    replies: Iterable[questions_pb2.ExplainResponse],
    workloads: Sequence[model.WorkloadRequest],
) -> list[results.Explanation]:
    return [
        results.Explanation(
            fits=reply.fits,
            answer=_answer(reply.answers, workloads[reply.workload]),
            never=reply.never,
            undecided=reply.undecided,
            empty=_answer(reply.empty, workloads[reply.workload]),
            near_miss=_near_miss(reply.near_miss) if reply.HasField("near_miss") else None,
            would_fit=results.WouldFit(
                fewer_pods=reply.fewer_pods,
                coarser_level=reply.coarser_level,
                anywhere=reply.anywhere,
                repaired_nodes=tuple(reply.repaired_nodes),
                repaired_together=tuple(reply.repaired_together),
                gone=tuple(_key(one) for one in reply.gone),
                labelled=tuple((one.label, one.value, tuple(one.nodes)) for one in reply.labelled),
                slice_size=reply.slice_size,
                lower_requests=tuple(
                    (one.resource, one.amount, one.asked) for one in reply.lower_requests
                ),
                other_flavors=tuple(reply.other_flavors),
                without=tuple(reply.without),
                tolerated=tuple(reply.tolerated),
            ),
            left_out=tuple((one.cause, tuple(one.nodes)) for one in reply.left_out),
        )
        for reply in _one_each(replies, len(workloads))
    ]


def _near_miss(message: questions_pb2.NearMiss) -> results.NearMiss:
    return results.NearMiss(
        message.pod_set,
        message.flavor,
        message.level,
        tuple(message.values),
        message.fit,
        message.pods,
        message.nodes,
        message.nodes_with_room,
        message.nodes_not_matching,
        tuple(
            results.BindingResource(one.resource, one.pods, one.missing) for one in message.binding
        ),
        tuple(results.RuledOut(one.by, one.nodes, one.remedy) for one in message.ruled_out),
    )


def validation(reply: questions_pb2.ValidateResponse) -> results.Validation:
    return results.Validation(
        reply.workloads,
        tuple(results.Fault(_key(one.workload), one.pod_set, one.problem) for one in reply.faults),
    )


def drain(
    reply: questions_pb2.DrainResponse, workloads: Sequence[model.WorkloadRequest]
) -> results.Drain:
    return results.Drain(
        tuple(
            results.HitWorkload(_key(one.workload), one.priority, one.pods, one.pods_hit)
            for one in reply.hits
        ),
        workload_answers(reply.answers, [workloads[one] for one in reply.moved]),
    )


def defragmentation(
    reply: questions_pb2.DefragmentResponse, workloads: Sequence[model.WorkloadRequest]
) -> results.Defragmentation:
    moved = [workloads[move] for domain in reply.freed for move in domain.moves]
    answers = iter(workload_answers(reply.answers, moved))
    return results.Defragmentation(
        reply.flavor,
        reply.domains,
        reply.free_already,
        reply.out_of_reach,
        tuple(
            results.FreedDomain(tuple(one.values), tuple(next(answers) for _ in one.moves))
            for one in reply.freed
        ),
        tuple(_key(one) for one in reply.staying),
        tuple(WorkloadKey(workloads[w].namespace, workloads[w].name) for w in reply.unknown),
    )


def replayed(
    replies: Iterable[questions_pb2.ReplayResponse],
    workloads: Sequence[model.WorkloadRequest],
) -> list[WorkloadAnswer]:
    return [
        workload_answers(reply.answers, [workloads[reply.workload]])[0]
        for reply in _one_each(replies, len(workloads))
    ]


def cycles(reply: scheduling_pb2.CycleResponse) -> results.Cycles:
    texts = Texts(reply.strings, reply.resources, assignments=reply.assignments)
    return results.Cycles(
        reply.cycles,
        tuple(
            results.Decision(
                one.cycle,
                texts.text(one.cluster_queue),
                WorkloadKey(texts.text(one.namespace), texts.text(one.name)),
                _DECISIONS[one.status],
                texts.text(one.reason),
                texts.text(one.pending_reason),
                tuple(texts.admitted_pod_set(pod_set) for pod_set in one.pod_set_assignments),
            )
            for one in reply.decisions
        ),
        texts.texts(reply.notes),
    )


def resize_plan(reply: scheduling_pb2.PlanResizeResponse) -> results.ResizePlan:
    texts = Texts(
        reply.strings,
        reply.resources,
        reply.topology_requests,
        reply.node_constraints,
        reply.assignments,
    )
    return results.ResizePlan(
        decision=_RESIZES[reply.decision],
        workload=WorkloadKey(texts.text(reply.namespace), texts.text(reply.name)),
        counts={texts.text(one.name): one.count for one in reply.counts},
        leaving={
            texts.text(one.pod_set): tuple(
                (texts.texts(domain.values), domain.count) for domain in one.domains
            )
            for one in reply.leaving
        },
        slices=tuple(
            results.PlannedSlice(
                decode_workload(one.workload, texts),
                texts.text(one.replacement_for),
                one.admitted,
                texts.text(one.reason),
            )
            for one in reply.slices
        ),
        usage=tuple(
            (texts.text(one.flavor), texts.text(one.resource), one.amount) for one in reply.usage
        ),
        reason=texts.text(reply.reason),
        notes=texts.texts(reply.notes),
        after=decode_workload(reply.after, texts) if reply.HasField("after") else None,
    )


# Reads a batch of one workload; None where the question has no such answer.
def _answer(
    batch: workload_pb2.AnswerBatch, workload: model.WorkloadRequest
) -> WorkloadAnswer | None:
    return workload_answers(batch, [workload])[0] if batch.outcomes else None


def _key(name: questions_pb2.WorkloadName) -> WorkloadKey:
    return WorkloadKey(name.namespace, name.name)


# A question about nothing is answered with one message that says nothing.
def _one_each(replies: Iterable[_Reply], expected: int) -> list[_Reply]:
    return list(replies)[:expected]
