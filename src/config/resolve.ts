/** Which profile, base address and key a command works with, and where each came from. */
import type { ProfileStore } from "./profiles.ts";
import type { Environment, Settings, Sourced } from "./settings.ts";

export interface ResolvedProfile {
  /** Absent when address and key both come from the environment. */
  name?: Sourced<string>;
  /** True for the embedded service in this process; then there is no address and no key of the user's. */
  isSandbox: boolean;
  baseUrl: Sourced<string>;
  structure?: Sourced<string>;
  readOnly: boolean;
  /** Obtains the key; runs the profile's key command where there is one. @throws NoKeyError */
  key(): Promise<Sourced<string>>;
}

/** @throws NoKeyError when no profile is configured and none named; UsageError for a bad address or unknown profile. */
export function resolveProfile(
  _settings: Settings,
  _profiles: ProfileStore,
  _env: Environment,
): ResolvedProfile {
  throw new Error("not built yet");
}
