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

export interface Prompter {
  /** Asks yes or no; the default is no. */
  confirm(message: string): Promise<boolean>;
  /** @param initial taken when nothing is typed */
  input(message: string, initial?: string, check?: Check): Promise<string>;
  /** Nothing is echoed. */
  secret(message: string): Promise<string>;
  /** @param choices at least one; the first is preselected */
  select<T>(message: string, choices: Choice<T>[]): Promise<T>;
  /** Any number of them, none too. */
  checkbox<T>(message: string, choices: Choice<T>[]): Promise<T[]>;
}
