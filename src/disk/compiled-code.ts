import { join } from "node:path";

/** Where Node, from 22.1 on, keeps what V8 has compiled of this program. It holds no personal data. */
export function toCompiledFolder({ cache }: { cache: string }): string {
  return join(cache, "compiled");
}
