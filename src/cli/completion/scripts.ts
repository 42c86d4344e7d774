// `ambit completion bash|zsh|fish`: the script a shell reads once; it asks `ambit __complete` at every Tab.
// No script ever evaluates a candidate: they are compared and inserted as text.
import { EXIT, type ExitCode } from "../terminal/exit.ts";
import type { Paint } from "../terminal/paint.ts";
import { fail } from "../terminal/problems.ts";

export interface ScriptPorts {
  readonly paint: Paint;
  print(text: string): void;
  printError(text: string): void;
}

type Shell = "bash" | "zsh" | "fish";
export const SHELLS: readonly Shell[] = ["bash", "zsh", "fish"];

export function completion(ports: ScriptPorts, shell: string, options: { readonly json: boolean }): ExitCode {
  const known = SHELLS.find((one) => one === shell);
  if (known === undefined) {
    const message = `no completion for ${JSON.stringify(shell.slice(0, 80))}`;
    return fail(ports, options, EXIT.usage, message, `ambit completion ${SHELLS.join("|")}`);
  }
  const script = SCRIPTS[known];
  ports.print(options.json ? JSON.stringify({ shell: known, install: INSTALL[known], script }) : script);
  return EXIT.ok;
}

const INSTALL: Readonly<Record<Shell, string>> = {
  bash: "source <(ambit completion bash)",
  zsh: "source <(ambit completion zsh)",
  fish: "ambit completion fish | source",
};

/** Bash splits words at `:` and `=`; ids and specs hold both, so the words are put together again from the line. */
const BASH = `# ambit completion for bash; in ~/.bashrc: ${INSTALL.bash}
_ambit() {
  local line=\${COMP_LINE:0:COMP_POINT} rest word cut candidate about at
  local -a words=()
  rest=$line
  for ((at = 0; at <= COMP_CWORD; at++)); do
    word=\${COMP_WORDS[at]}
    ((at == COMP_CWORD)) && word=\${rest#"\${rest%%[![:space:]]*}"}
    if ((at > 0)) && [[ $rest != [[:space:]]* && -n $rest ]]; then
      words[\${#words[@]} - 1]+=$word
    else
      words+=("$word")
    fi
    rest=\${rest#"\${rest%%[![:space:]]*}"}
    rest=\${rest#"$word"}
  done
  local last=\${#words[@]}
  local typed=\${words[last - 1]}
  local program=\${words[0]/#\\~/$HOME}
  cut=\${typed%"\${typed##*[:=]}"}
  COMPREPLY=()
  while IFS=$'\\t' read -r candidate about; do
    if [[ $candidate == :files ]]; then
      compopt -o default 2>/dev/null
    elif [[ $candidate == "$typed"* ]]; then
      COMPREPLY+=("\${candidate#"$cut"}")
    fi
  done < <("$program" __complete -- "\${words[@]:1}" 2>/dev/null)
  [[ \${COMPREPLY[0]-} == *= ]] && compopt -o nospace 2>/dev/null
  return 0
}
complete -F _ambit ambit`;

const ZSH = `#compdef ambit
# ambit completion for zsh; in ~/.zshrc, after compinit: ${INSTALL.zsh}
_ambit() {
  local line candidate about files=0
  local -a names abouts
  while IFS= read -r line; do
    candidate=\${line%%$'\\t'*}
    about=\${line#*$'\\t'}
    if [[ $candidate == :files ]]; then
      files=1
    else
      names+=("$candidate")
      abouts+=("$candidate  $about")
    fi
  done < <("\${(Q)words[1]}" __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)
  ((\${#names})) && compadd -Q -l -d abouts -a names
  ((files)) && _files
  return 0
}
if [[ $funcstack[1] == _ambit ]]; then
  _ambit "$@"
elif ((\${+functions[compdef]})); then
  compdef _ambit ambit
fi`;

const FISH = `# ambit completion for fish; in config.fish: ${INSTALL.fish}
function __ambit_complete
    set -l words (commandline -opc)
    set -l typed (commandline -ct)
    for line in (command $words[1] __complete -- $words[2..-1] $typed 2>/dev/null)
        if test "$line" = ":files"
            __fish_complete_path $typed
        else
            echo $line
        end
    end
end
complete -c ambit -f -a '(__ambit_complete)'`;

const SCRIPTS: Readonly<Record<Shell, string>> = { bash: BASH, zsh: ZSH, fish: FISH };
