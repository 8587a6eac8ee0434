/** Words that people try where `ecm` has no such command, and the command that was meant. Pure. */

const atTheTop: Record<string, string> = {
  search: "ecm contact search",
  find: "ecm contact search",
  ls: "ecm contact search, or ecm lists list",
  get: "ecm contact get ID-OR-KEY",
  show: "ecm contact get ID-OR-KEY",
  create: "ecm contact create, or ecm lists create NAME",
  add: "ecm contact create, or ecm lists create NAME",
  update: "ecm contact mutate ID-OR-KEY",
  mutate: "ecm contact mutate ID-OR-KEY",
  edit: "ecm contact mutate ID-OR-KEY",
  unsubscribe: "ecm contact unsubscribe ID-OR-KEY",
  delete: "ecm contact delete ID-OR-KEY, or ecm lists delete LIST",
  remove: "ecm contact delete ID-OR-KEY, or ecm lists delete LIST",
  rm: "ecm contact delete ID-OR-KEY, or ecm lists delete LIST",
  erase: "ecm contact erase KEY",
  forget: "ecm contact erase KEY",
  login: "ecm auth login",
  logout: "ecm auth logout",
  status: "ecm auth status, or ecm doctor",
  whoami: "ecm auth status",
  use: "ecm auth use NAME",
  switch: "ecm auth use NAME",
  profile: "ecm auth list",
  profiles: "ecm auth list",
  account: "ecm auth status",
  config: "ecm auth status, or ecm doctor",
  keys: "ecm auth status; for keys of the sandbox: ecm sandbox keys list",
  tag: "ecm structure tag add LABEL; to see all tags: ecm structure get",
  tags: "ecm structure get; to add one: ecm structure tag add LABEL",
  field: "ecm structure field add LABEL; to see all fields: ecm structure get",
  fields: "ecm structure get; to add one: ecm structure field add LABEL",
  schema: "ecm structure get",
  sync: "ecm lists sync LIST FILE",
  merge: "ecm lists merge LIST… --into NAME",
  undo: "ecm runs undo RUN",
  resume: "ecm runs resume RUN",
  rejects: "ecm runs rejects RUN",
  jobs: "ecm runs list",
  upload: "ecm import FILE",
  download: "ecm export",
  quota: "ecm limits",
  usage: "ecm limits",
  request: "ecm api METHOD PATH",
  start: "ecm sandbox start",
};

const belowGroups: Record<string, Record<string, string>> = {
  contact: {
    add: "ecm contact create --key KEY; to a list: ecm contact mutate ID-OR-KEY --add-list LIST",
    import: "ecm import FILE",
    export: "ecm export",
    events: "ecm events ID-OR-KEY",
    history: "ecm events ID-OR-KEY",
    tag: "ecm contact mutate ID-OR-KEY --add-tag TAG",
    untag: "ecm contact mutate ID-OR-KEY --remove-tag TAG",
    set: "ecm contact mutate ID-OR-KEY --set FIELD=VALUE",
    count: "ecm contact search --count",
    suppress: "ecm suppressions add KEY",
    subscribe:
      "ecm contact create --key KEY for a new contact; unsubscribed contacts cannot be resubscribed through the API",
  },
  lists: {
    members: "ecm contact search --list LIST",
    contacts: "ecm contact search --list LIST",
    add: "ecm contact mutate ID-OR-KEY --add-list LIST; a new list: ecm lists create NAME",
    remove: "ecm contact mutate ID-OR-KEY --remove-list LIST; the list itself: ecm lists delete LIST",
    update: "ecm lists rename LIST NAME",
    copy: "ecm lists duplicate LIST NAME",
    export: "ecm export --list LIST",
    import: "ecm import FILE --list LIST",
  },
  structure: {
    fields: "ecm structure get",
    tags: "ecm structure get",
    create:
      "a structure cannot be created with an API key; fields and tags can: ecm structure field add LABEL",
  },
  auth: { whoami: "ecm auth status", switch: "ecm auth use NAME", show: "ecm auth status" },
  runs: { retry: "ecm runs resume RUN", continue: "ecm runs resume RUN", rollback: "ecm runs undo RUN" },
};

/**
 * What to say to a word that is no command.
 * @param group the group that it was tried in; empty for the first word
 */
export function commandMeant(group: string, word: string): string | undefined {
  const known = group === "" ? atTheTop : (belowGroups[group] ?? {});
  const meant = Object.hasOwn(known, word.toLowerCase()) ? known[word.toLowerCase()] : undefined;
  return meant && (meant.startsWith("ecm ") ? `Use: ${meant}` : meant);
}
