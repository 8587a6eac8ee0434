/** What terminals are known to show besides text: others may print the sequence, or take it for something else. Pure. */

type Environment = Readonly<Record<string, string | undefined>>;

interface KnownTerminal {
  isIn(env: Environment): boolean;
  /** Text as a link: OSC 8. */
  links?: true;
}

const isProgram = (name: string) => (env: Environment) => env.TERM_PROGRAM === name;
const isNewer = (variable: string, version: number) => (env: Environment) =>
  Number(env[variable] ?? 0) >= version;

const knownTerminals: readonly KnownTerminal[] = [
  { isIn: (env) => env.WT_SESSION !== undefined, links: true },
  { isIn: isProgram("ghostty"), links: true },
  { isIn: isProgram("WezTerm"), links: true },
  { isIn: isProgram("iTerm.app"), links: true },
  { isIn: isProgram("vscode"), links: true },
  // GNOME Terminal and its like: before 0.50 a link could end them.
  { isIn: isNewer("VTE_VERSION", 5000), links: true },
  { isIn: isNewer("KONSOLE_VERSION", 201_200), links: true },
  { isIn: (env) => ["xterm-kitty", "foot", "alacritty"].includes(env.TERM ?? ""), links: true },
];

/** Within tmux and screen it is not known what the terminal outside of them is. */
export function isKnownToShow(what: "links", env: Environment): boolean {
  if (env.TMUX !== undefined || env.STY !== undefined) return false;
  return knownTerminals.some((each) => each[what] && each.isIn(env));
}
