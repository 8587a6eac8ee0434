/** What a run does, with the words of its command. */
export const runCommands = {
  import: ["import"],
  mutate: ["contact", "mutate"],
  unsubscribe: ["contact", "unsubscribe"],
  delete: ["contact", "delete"],
  sync: ["lists", "sync"],
  undo: ["runs", "undo"],
  apply: ["apply"],
};

export type RunKind = keyof typeof runCommands;
