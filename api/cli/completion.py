"""``quarry completion``: the shell completes commands, options and files."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from api.cli.output import print_line, reports_errors

SHELLS = ("bash", "zsh", "fish")


@click.command()
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
@reports_errors
def completion(ctx: click.Context, shell: str) -> None:
    r"""Print what makes SHELL complete `quarry`.

    \b
      bash  quarry completion bash >> ~/.bashrc
      zsh   quarry completion zsh >> ~/.zshrc
      fish  quarry completion fish > ~/.config/fish/completions/quarry.fish
    """
    kind = get_completion_class(shell)
    if kind is None:
        raise click.UsageError(f"{shell} is not known.")
    print_line(kind(ctx.find_root().command, {}, "quarry", "_QUARRY_COMPLETE").source())
