/** What a row is made of, in the shapes that readers and the bulk engine share. Types only. */

/** Cells of a row, as the file has them; one that is missing is undefined. */
export type Cells = readonly (string | undefined)[];

/** A contact's key in the forms the engine needs. */
export interface ContactKey {
  /** As the file has it, edges trimmed: looked up first, since an account may hold it in this form. */
  written: string;
  /** Normalised: what a create sends. */
  sent: string;
  /** What makes two keys one contact: `sent` without regard to case for e-mail keys. */
  identity: string;
}
