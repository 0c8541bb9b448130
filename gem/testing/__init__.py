"""For authors of environments: the contract as a check, as tests, and environments that misbehave on purpose."""

from gem.testing.contract import EnvContract, check_env, find_breaches
from gem.testing.fakes import CrashEnv, EchoEnv, SlowEnv

__all__ = ["CrashEnv", "EchoEnv", "EnvContract", "SlowEnv", "check_env", "find_breaches"]
