import type { Argument, Command, Option } from 'commander';

/**
 * Scripts by which shells complete the command line. They are made from the commands themselves, and hold all that there
 * is to know: asking the program at each key would take half a second.
 */

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

/** What may stand behind a command or an option. */
interface Place {
  /** the words before it, as in `keys issue --label`, without the program's name */
  after: string;
  words: Word[];
  /** whether a file's name may stand there */
  files: boolean;
}

interface Word {
  text: string;
  about: string;
}

/** @param name by which the program is called */
export const completionScript = (shell: Shell, program: Command, name: string): string =>
  WRITERS[shell](name, [...placesOf(program)]);

/** Places behind commands come before those behind their options. */
function* placesOf(command: Command, path: string[] = []): Generator<Place> {
  const help = command.createHelp();
  help.showGlobalOptions = true;
  const options = [...help.visibleOptions(command), ...help.visibleGlobalOptions(command)];
  const commands = help.visibleCommands(command);
  yield {
    after: path.join(' '),
    words: [
      ...commands.map((inner) => ({ text: inner.name(), about: inner.summary() || inner.description() })),
      ...command.registeredArguments.flatMap(choicesOf),
      ...options.flatMap(({ long, description }) => (long ? [{ text: long, about: description }] : [])),
    ],
    files: command.registeredArguments.some(isFile),
  };
  for (const option of options) {
    if (!option.required && !option.optional) continue;
    yield { after: [...path, option.long].join(' '), words: choicesOf(option), files: isFile(option) };
  }
  for (const inner of command.commands) yield* placesOf(inner, [...path, inner.name()]);
}

const choicesOf = ({ argChoices }: Option | Argument): Word[] =>
  (argChoices ?? []).map((text) => ({ text, about: '' }));

const isFile = (valued: Option | Argument): boolean =>
  'flags' in valued ? valued.flags.includes('<FILE>') : valued.name() === 'FILE';

const isOption = ({ after }: Place): boolean => /(^| )--\S+$/.test(after);
const commandsOf = (places: Place[]): Place[] => places.filter((place) => !isOption(place));

/** Text in single quotes. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

const firstSentence = (about: string): string => (/^[^\n]*?(?=\.(\s|$)|\n|$)/.exec(about) ?? [about])[0];

/** A case of bash or zsh for each place. */
const cases = (places: Place[], body: (place: Place) => string): string =>
  places.map((place) => `    ${quoted(place.after)}) ${body(place)} ;;`).join('\n');

/** Follows the words up to the cursor: `at` becomes the command, and `last` the option whose value is asked for. */
const walk = (places: Place[], words: string): string => {
  const known = commandsOf(places).map(({ after }) => quoted(after));
  return `  for word in ${words}; do
    [[ $word == = ]] && continue
    case "$at$word" in
      ${known.slice(1).join(' | ')}) at="$at$word " ;;
    esac
    last=$word
  done
  at=\${at% }`;
};

const bash = (name: string, places: Place[]): string => `# bash completion of ${name}
_${identifier(name)}() {
  local cur=\${COMP_WORDS[COMP_CWORD]} at= last= word words= files=
  [[ $cur == = ]] && cur=
${walk(places, '"${COMP_WORDS[@]:1:COMP_CWORD-1}"')}
  case "\${at:+$at }$last" in
${cases(places.filter(isOption), ({ words, files }) => `words=${quoted(textsOf(words))} files=${files ? 1 : ''} at=-`)}
  esac
  case "$at" in
${cases(commandsOf(places), ({ words, files }) => `words=${quoted(textsOf(words))} files=${files ? 1 : ''}`)}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
  if [[ $files && $cur != -* ]]; then
    compopt -o filenames 2>/dev/null
    local IFS=$'\\n'
    COMPREPLY+=($(compgen -f -- "$cur"))
  fi
}
complete -F _${identifier(name)} ${name}
`;

const zsh = (name: string, places: Place[]): string => `#compdef ${name}
_${identifier(name)}() {
  local at= last= word files=
  local -a entries
${walk(places, '"${(@)words[2,CURRENT-1]}"')}
  case "\${at:+$at }$last" in
${cases(places.filter(isOption), ({ words, files }) => `entries=(${entriesOf(words)}) files=${files ? 1 : ''} at=-`)}
  esac
  case "$at" in
${cases(commandsOf(places), ({ words, files }) => `entries=(${entriesOf(words)}) files=${files ? 1 : ''}`)}
  esac
  (( $#entries )) && _describe -V word entries
  [[ -n $files ]] && _files
}
if [[ $funcstack[1] == _${identifier(name)} ]]; then _${identifier(name)} "$@"; else compdef _${identifier(name)} ${name}; fi
`;

function fish(name: string, places: Place[]): string {
  const at = `__${identifier(name)}_at`;
  const known = commandsOf(places)
    .slice(1)
    .map(({ after }) => quoted(after));
  const lines = places.flatMap(({ after, words, files }) => {
    const condition = `complete -c ${name} -n ${quoted(`${at} ${quoted(after)}`)}`;
    return [
      ...words.map(({ text, about }) => `${condition} -f -a ${quoted(text)} -d ${quoted(firstSentence(about))}`),
      ...(files ? [`${condition} -F`] : []),
    ];
  });
  return `# fish completion of ${name}
function ${at} --description 'Whether the cursor is behind this command, or this option that takes a value'
    set -l at
    set -l last
    for word in (commandline -opc)[2..]
        switch (string join -- ' ' $at $word)
            case ${known.join(' ')}
                set at $at $word
        end
        set last $word
    end
    set -l command (string join -- ' ' $at)
    set -l option (string join -- ' ' $at $last)
    if contains -- "$option" ${places
      .filter(isOption)
      .map(({ after }) => quoted(after))
      .join(' ')}
        test "$option" = "$argv[1]"
    else
        test "$command" = "$argv[1]"
    end
end
complete -c ${name} -e
complete -c ${name} -f
${lines.join('\n')}
`;
}

const textsOf = (words: Word[]): string => words.map(({ text }) => text).join(' ');
const entriesOf = (words: Word[]): string =>
  words.map(({ text, about }) => quoted(`${text}:${firstSentence(about).replaceAll(':', '\\:')}`)).join(' ');
const identifier = (name: string): string => name.replace(/[^A-Za-z0-9_]/g, '_');

const WRITERS: Record<Shell, (name: string, places: Place[]) => string> = { bash, zsh, fish };
