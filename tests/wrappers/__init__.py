import pytest

pytest.register_assert_rewrite("tests.wrappers.suite", "tests.wrappers.paths")
