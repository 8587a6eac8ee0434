/** Which account a request is for: a world's, by the path or by its key; else the main one. */
import type { SandboxAccount } from "./account.ts";
import { worldsRoot } from "./admin-api/access.ts";
import type { AdminApi } from "./admin-api/place.ts";
import { refusalAnswer, toResponse } from "./request.ts";
import { unauthorized } from "./rules/refusal.ts";
import type { Service } from "./service.ts";
import { missingWorld, type Worlds } from "./worlds.ts";

export function routeAccounts(
  main: SandboxAccount,
  worlds: Worlds,
): { service: Service; adminApi: AdminApi } {
  return {
    async service(request) {
      const id = findWorldId(request.target);
      if (id !== undefined) {
        const world = worlds.find(id);
        if (!world) return { answer: refusalAnswer(missingWorld(id)) };
        const { root } = world;
        return world.service({ ...request, target: request.target.slice(root.length) || "/", root });
      }
      const key = request.headers["x-api-key"];
      const world = typeof key === "string" ? worlds.findByKey(key) : undefined;
      if (world === "closed") return { answer: refusalAnswer(unauthorized("Invalid API key")) };
      return (world ?? main).service(request);
    },
    async adminApi(request, bindings) {
      const id = findWorldId(new URL(request.url).pathname);
      if (id === undefined) return main.adminApi(request, bindings);
      const world = worlds.find(id);
      return world ? world.adminApi(request, bindings) : toResponse(refusalAnswer(missingWorld(id)));
    },
  };
}

const worldForm = new RegExp(`^${worldsRoot}/([^/?]*)`);

function findWorldId(target: string): string | undefined {
  return target.startsWith(`${worldsRoot}/`) ? worldForm.exec(target)?.[1] : undefined;
}
