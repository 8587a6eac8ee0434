import { join } from "node:path";

/** Where Node, from 22.1 on, keeps what V8 has compiled of this program. There is nothing of people in it. */
export function toCompiledFolder({ cache }: { cache: string }): string {
  return join(cache, "compiled");
}
