import { type Command, InvalidArgumentError } from "commander";
import { RAPPORT } from "../core/base/command.ts";
import { printText } from "./terminal.ts";

const SHELLS = ["bash", "zsh", "fish"] as const;

type Shell = (typeof SHELLS)[number];

const HELP = `
Examples:
  ${RAPPORT} completion bash >> ~/.bashrc
  ${RAPPORT} completion zsh > "\${fpath[1]}/_rapport"
  ${RAPPORT} completion fish > ~/.config/fish/completions/rapport.fish`;

/** @param loadAll defines every other subcommand, so that all options are known. */
export function define(command: Command, loadAll: () => Promise<void>): void {
  command
    .argument("<shell>", SHELLS.join(", "), readShell)
    .addHelpText("after", HELP)
    .action(async (shell: Shell) => {
      await loadAll();
      printText(SCRIPTS[shell](levelsOf(command.parent as Command)));
    });
}

function readShell(text: string): Shell {
  const shell = SHELLS.find((each) => each === text);
  if (shell) return shell;
  throw new InvalidArgumentError(`It is one of ${SHELLS.join(", ")}.`);
}

/** A word that may come next, with its meaning. */
interface Word {
  readonly text: string;
  readonly about: string;
}

/** The words that may follow a command. */
interface Level {
  /** The names of the subcommands up to here, each after a space; empty for the program. */
  readonly path: string;
  readonly words: readonly Word[];
}

function levelsOf(command: Command, path = ""): Level[] {
  const options = command.createHelp().visibleOptions(command);
  const words = [
    ...command.commands.map((each) => ({ text: each.name(), about: each.description() })),
    ...options.map(({ long, short, description }) => ({
      text: long ?? short ?? "",
      about: description,
    })),
  ];
  const below = command.commands.flatMap((each) => levelsOf(each, `${path} ${each.name()}`));
  return [{ path, words }, ...below];
}

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** Follows the words so far as long as they name subcommands; their arguments and options are passed over. */
const follow = (levels: readonly Level[], words: string): string => `  local path= word
  for word in ${words}; do
    case "$path $word" in
      ${levels
        .slice(1)
        .map(({ path }) => quoted(path))
        .join("|")}) path="$path $word" ;;
    esac
  done`;

const cases = (levels: readonly Level[], line: (level: Level) => string): string =>
  levels.map((level) => `    ${quoted(level.path)}) ${line(level)} ;;`).join("\n");

const bash = (levels: readonly Level[]): string => `# rapport completion bash
_rapport() {
${follow(levels, `"\${COMP_WORDS[@]:1:COMP_CWORD-1}"`)}
  local words=
  case "$path" in
${cases(levels, ({ words }) => `words=${quoted(words.map(({ text }) => text).join(" "))}`)}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _rapport rapport
`;

const zsh = (levels: readonly Level[]): string => `#compdef rapport
_rapport() {
${follow(levels, `"\${(@)words[2,CURRENT-1]}"`)}
  local -a known
  case "$path" in
${cases(levels, ({ words }) => `known=(${words.map(described).join(" ")})`)}
  esac
  _describe 'rapport' known
  _files
}
if [ "$funcstack[1]" = _rapport ]; then _rapport "$@"; else compdef _rapport rapport; fi
`;

const described = ({ text, about }: Word): string =>
  quoted(`${text.replaceAll(":", "\\:")}:${about}`);

const fish = (levels: readonly Level[]): string => `# rapport completion fish
function __rapport_path
  set -l path ''
  for word in (commandline -opc)[2..-1]
    contains -- "$path $word" ${levels
      .slice(1)
      .map(({ path }) => quoted(path))
      .join(" ")}
    and set path "$path $word"
  end
  echo "$path"
end
${levels.flatMap(({ path, words }) => words.map((word) => fishLine(path, word))).join("\n")}
`;

const fishLine = (path: string, { text, about }: Word): string =>
  `complete -c rapport -n 'test (__rapport_path) = "${path}"' ` +
  `-a ${quoted(text)} -d ${quoted(about)}`;

const SCRIPTS: Readonly<Record<Shell, (levels: readonly Level[]) => string>> = { bash, zsh, fish };
