"""Placeholder replaced below."""
def main() -> int:
    from gem.cli import main as cli
    return cli()
