"""The arrow check finds what it must find (a positive control) and lets pass what is allowed."""

import pathlib
import tempfile
import unittest

import check_arrows


def problems_of(path, include_line):
    """What the check says about a tree that holds this one file with this one line."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / path
        file.parent.mkdir(parents=True)
        file.write_text(f"#pragma once\n{include_line}\n", encoding="utf-8")
        return check_arrows.check(pathlib.Path(folder))[0]


class BrokenExamplesAreCaught(unittest.TestCase):
    def test_each(self):
        for path, line in [
            ("kernels/counts.hpp", '#include "host/model/node.hpp"'),
            ("host/model/node.hpp", '#include "host/packing/cluster_state.hpp"'),
            ("host/packing/tree.hpp", '#include "host/engine/engine.hpp"'),
            ("host/engine/engine.cpp", '#include "fallback_cpu/cpu_backend.hpp"'),
            ("host/engine/engine.cpp", '#include "host/kueue/planning/placement_plan.hpp"'),
            ("host/readers/node.cpp", '#include "host/engine/request.hpp"'),
            ("host/cuda/mirror.cpp", '#include "service/wire/convert.hpp"'),
            ("fallback_cpu/cpu_backend.cpp", "#include <grpcpp/grpcpp.h>"),
            ("host/kueue/plan.cpp", "#include <simdjson.h>"),
            ("service/server/server.cpp", "  #  include <simdjson.h>"),
            ("host/model/node.hpp", "#include <google/protobuf/message.h>"),
            ("host/engine/engine.cpp", '#include "proto/espalier/v1/placement.pb.h"'),
            ("tests/engine/engine_test.cpp", "#include <grpcpp/grpcpp.h>"),
            ("host/engine/engine.cpp", "#include <sys/socket.h>"),
            ("fallback_cpu/count.cpp", "#include <cuda_runtime.h>"),
            ("service/cli/commands/serve_command.cpp", "#include <prometheus/exposer.h>"),
            ("service/main.cpp", "#include <gtest/gtest.h>"),
            ("bench/scenarios/run.cpp", '#include "fallback_cpu/cpu_backend.hpp"'),
            ("bench/scenarios/run.cpp", '#include "service/client/remote_engine.hpp"'),
            ("host/engine/engine.cpp", '#include "bench/scenarios/measure.hpp"'),
            ("host/loose.cpp", "#include <vector>"),
            ("host/engine/engine.cpp", '#include "host/attic/old.hpp"'),
        ]:
            with self.subTest(path=path, line=line):
                self.assertEqual(len(problems_of(path, line)), 1)


class AllowedExamplesPass(unittest.TestCase):
    def test_each(self):
        for path, line in [
            ("kernels/counts.hpp", '#include "kernels/ids.hpp"'),
            ("kernels/algo/counts.hpp", "#include <cstdint>"),
            ("host/engine/engine.cpp", '#include "host/packing/cluster_state.hpp"'),
            ("host/kueue/plan.cpp", '#include "host/engine/request.hpp"'),
            ("host/readers/json.cpp", "#include <simdjson.h>"),
            ("fallback_cpu/cpu_backend.cpp", '#include "kernels/ids.hpp"'),
            ("service/cli/commands/place_command.cpp", '#include "fallback_cpu/cpu_backend.hpp"'),
            ("service/wire/convert.cpp", '#include "proto/espalier/v1/placement.pb.h"'),
            ("service/server/metrics.cpp", "#include <prometheus/exposer.h>"),
            ("tests/server/server_test.cpp", "#include <grpcpp/grpcpp.h>"),
            ("tests/engine/engine_test.cpp", "#include <gtest/gtest.h>"),
            ("host/engine/engine.cpp", '// #include "service/main.hpp"'),
        ]:
            with self.subTest(path=path, line=line):
                self.assertEqual(problems_of(path, line), [])

    def test_an_empty_tree_is_no_pass(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(check_arrows.main([folder]), 1)


if __name__ == "__main__":
    unittest.main()
