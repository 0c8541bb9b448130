"""`python -m gem`: the doctor looks first, then the command line runs."""

from gem_gym_doctor import guard

if __name__ == "__main__":
    guard()

    from gem.cli import main

    raise SystemExit(main())
