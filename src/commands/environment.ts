/** The environment variables that `ecm` reads: the one table behind help, man page and index. */
export const environment: Readonly<Record<string, string>> = {
  ECM_PROFILE: "profile to work with, as --profile",
  ECM_BASE_URL:
    "base address of the account's API, as --base-url; together with ECM_API_KEY no profile is needed",
  ECM_API_KEY: "the API key; there is no flag for it, because a flag shows in the process list",
  ECM_INSECURE_HTTP:
    "host or host:port beside this machine that plain http may go to, such as a sandbox in a compose network; the key is readable on the way, and a warning says so",
  ECM_STRUCTURE: "contact structure to work in, as --structure",
  ECM_OUTPUT: "output format, as --output",
  ECM_NO_INPUT: "1: never ask, as --no-input",
  ECM_READ_ONLY: "1: refuse every request that would write, as --read-only",
  ECM_TIMEOUT: "longest wait for one answer in seconds, as --timeout",
  ECM_CONFIG_DIR: "folder of the profiles and keys",
  ECM_STATE_DIR: "folder of the bulk runs and of the embedded sandbox's data",
  ECM_SUPPRESSIONS:
    "file of the suppression list, in place of the account's own; several machines can share it",
  ECM_CACHE_DIR: "folder of what may be lost: remembered names, limits last seen",
  ECM_SANDBOX_API_KEY:
    "the key that `ecm sandbox start` and `exec` work with, in place of one made at random",
  ECM_SANDBOX_ADMIN_TOKEN: "token for /__sandbox/, as `ecm sandbox start --admin-token`",
  ECM_DEBUG: "1: show where in the program a failure happened",
  ECM_PAGER: "pager for long tables, else PAGER, else less; cat or empty: none",
  HTTPS_PROXY: "proxy for all requests but those to this machine, such as http://proxy.example.com:3128",
  NO_PROXY: "hosts that are reached without the proxy, separated by commas; .example.com names all below it",
  NODE_EXTRA_CA_CERTS: "file with further certificate authorities (PEM), such as a company's own",
  NO_COLOR: "no colour",
  FORCE_COLOR: "colour although the output is no terminal",
  ACCESSIBLE: "1: for screen readers; nothing is redrawn, progress comes in plain lines",
};
