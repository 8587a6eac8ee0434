/** The files of a run folder, by what is in them. */
export const fileNames = {
  manifest: "manifest.json",
  /** Its place among the runs of the state folder. */
  number: "number",
  journal: "journal",
  /** What is written, known before the first write. */
  plan: "plan.ndjson",
  /** Standard input, as it came, until the plan is closed. */
  input: "input",
  /** Contacts of the account that were read page by page, until the plan is closed. */
  snapshot: "snapshot",
  rejects: "rejects.csv",
  /** Contacts as they were before a deletion took them. */
  backup: "backup.csv",
  /** The file that --backup names is this run's own. */
  backupMark: "backup-elsewhere",
} as const;
