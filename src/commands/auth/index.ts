import type { Command } from "@commander-js/extra-typings";
import type { Context } from "../../context.ts";
import { registerAuthList } from "./list.ts";
import { registerAuthLogin } from "./login.ts";
import { registerAuthLogout } from "./logout.ts";
import { registerAuthStatus } from "./status.ts";
import { registerAuthUse } from "./use.ts";

export function register(auth: Command, context: Context): void {
  registerAuthLogin(auth, context);
  registerAuthStatus(auth, context);
  registerAuthList(auth, context);
  registerAuthUse(auth, context);
  registerAuthLogout(auth, context);
}
