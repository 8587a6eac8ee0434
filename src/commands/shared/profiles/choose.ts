/** Which profiles a pattern names. */
import { type ProfileStore, sandboxProfile } from "../../../config/profiles.ts";
import { NotFoundError } from "../../../errors.ts";
import { advise, ecm } from "../../../hint.ts";

/**
 * Names and patterns with `*` and `?`, separated by commas, in the order in which they are written. The
 * embedded service is nobody's account: a pattern does not name it.
 * @throws NotFoundError for a part that names none: a mistyped name must not be passed over
 */
export function chooseProfiles(profiles: Pick<ProfileStore, "names">, pattern: string): string[] {
  const names = profiles.names();
  const chosen = pattern.split(",").flatMap((part) => {
    const found = findNames(names, part.trim());
    if (found.length > 0) return found;
    const own = names.filter((name) => name !== sandboxProfile);
    throw new NotFoundError(
      `--profiles: no profile matches ${JSON.stringify(part.trim())}`,
      own.length > 0
        ? `Profiles: ${own.join(", ")}`
        : advise`Create one with: ${ecm`auth login --profile NAME`}`,
      { type: "UnknownProfileError" },
    );
  });
  return [...new Set(chosen)];
}

function findNames(names: readonly string[], part: string): string[] {
  if (names.includes(part)) return [part];
  if (!/[*?]/.test(part)) return [];
  const source = part
    .replace(/[.+^${}()|[\]\\]/g, "\\$&")
    .replaceAll("*", ".*")
    .replaceAll("?", ".");
  const matcher = new RegExp(`^${source}$`, "u");
  return names.filter((name) => name !== sandboxProfile && matcher.test(name)).sort();
}
