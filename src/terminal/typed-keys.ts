/** A key that was typed where no flag takes one must not come back in an error. Pure. */

/** Flags that no command has, and after which people type a key all the same. */
const secretFlag = /^--?[\w-]*(?:api-?key|token|secret|password|credential)[\w-]*$/i;
const keyForm = /^[A-Za-z0-9]{2,4}_[A-Za-z0-9_-]{20,}$/;

/** Masks every API key that was typed on the command line. */
export function maskTypedKeys(text: string, words: readonly string[]): string {
  const secrets = words.flatMap((word, index) => {
    const at = word.startsWith("-") ? word.indexOf("=") : -1;
    const value = at < 0 ? word : word.slice(at + 1);
    const flag = at < 0 ? words[index - 1] : word.slice(0, at);
    const isSecret = keyForm.test(value) || (flag !== undefined && secretFlag.test(flag) && value !== flag);
    return isSecret && value.length >= 8 && !value.startsWith("-") ? [value] : [];
  });
  return secrets.reduce((shown, secret) => shown.replaceAll(secret, maskOf(secret)), text);
}

/** Enough to know which was meant: the prefix with the region, and the last four characters. */
function maskOf(secret: string): string {
  return secret.length >= 40 ? `${secret.slice(0, 7)}…${secret.slice(-4)}` : "…";
}
