/** The environment variables that `ecm` reads: the one table behind help, man page and index. */
export const environment: Readonly<Record<string, string>> = {
  ECM_PROFILE: "profile to use, as --profile",
  ECM_BASE_URL: "base URL of the account's API, as --base-url; with ECM_API_KEY no profile is needed",
  ECM_API_KEY: "the API key; not a flag, because flags are visible in the process list",
  ECM_INSECURE_HTTP:
    "a host or host:port to which plain http is allowed, such as a sandbox in a compose network; the key is sent unencrypted, with a warning",
  ECM_STRUCTURE: "contact structure to use, as --structure",
  ECM_OUTPUT: "output format, as --output",
  ECM_NO_INPUT: "1: never prompt, as --no-input",
  ECM_READ_ONLY: "1: refuse every request that would write, as --read-only",
  ECM_TIMEOUT: "timeout of a request in seconds, as --timeout",
  ECM_CONFIG_DIR: "folder for profiles and keys",
  ECM_STATE_DIR: "folder for bulk runs and the embedded sandbox's data",
  ECM_SUPPRESSIONS:
    "file of the suppression list, instead of the account's own; several machines can share it",
  ECM_CACHE_DIR: "folder for data that can be deleted: cached names, limits last seen",
  ECM_SANDBOX_API_KEY: "the key for `ecm sandbox start` and `exec`, instead of a random one",
  ECM_SANDBOX_ADMIN_TOKEN: "token for /__sandbox/, as `ecm sandbox start --admin-token`",
  ECM_DEBUG: "1: show a stack trace with errors",
  ECM_PAGER: "pager for long tables, else PAGER, else less; cat or empty: none",
  HTTPS_PROXY: "proxy for all requests except to this machine, such as http://proxy.example.com:3128",
  NO_PROXY: "hosts to reach without the proxy, separated by commas; .example.com matches all subdomains",
  NODE_EXTRA_CA_CERTS: "file with additional certificate authorities (PEM), such as a company's own",
  NO_COLOR: "no colour",
  FORCE_COLOR: "colour even if the output is not a terminal",
  ACCESSIBLE: "1: for screen readers; nothing is redrawn, progress is printed in plain lines",
};
