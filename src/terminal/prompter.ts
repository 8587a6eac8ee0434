/** What can be asked of a person, however the questions are drawn. */

export interface Choice<T> {
  name: string;
  value: T;
  /** Shown after the question once it is chosen, instead of the name. */
  short?: string;
  description?: string;
}

/** What is wrong with an answer, for the person who gave it; undefined when nothing is. */
type Check = (answer: string) => string | undefined;

/** A table whose lines can be changed, one by one. */
export interface LineTable {
  message: string;
  /** What it means to take the table as it is. */
  accept: string;
  columns: readonly string[];
  /** A cell for each column. */
  lines: readonly (readonly string[])[];
}

/** An answer that is typed as one letter. */
export interface KeyChoice<T> {
  key: "y" | "n" | "c" | "l";
  name: string;
  value: T;
}

export interface Prompter {
  /** Asks yes or no; the default is no. */
  confirm(message: string): Promise<boolean>;
  /** @param initial taken when nothing is typed */
  input(message: string, initial?: string, check?: Check): Promise<string>;
  /** Nothing is echoed. */
  secret(message: string): Promise<string>;
  /**
   * @param initial preselected; else the first of the choices, of which there is at least one
   * @param onEscape the answer of Esc, where the question is drawn; without it, Esc does nothing
   */
  select<T>(message: string, choices: Choice<T>[], initial?: T, onEscape?: T): Promise<T>;
  /** @returns the place of the line that is to be changed; undefined where the table is taken as it is */
  chooseLine(table: LineTable): Promise<number | undefined>;
  /** Asks for a letter. @param choices the last is taken where nothing is typed */
  chooseKey<T>(message: string, choices: KeyChoice<T>[]): Promise<T>;
  /** Any number of them, none too. */
  checkbox<T>(message: string, choices: Choice<T>[]): Promise<T[]>;
}
