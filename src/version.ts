/** The version in `package.json`, which stands beside the program in a checkout and in a package. */
import { readFileSync } from "node:fs";

const packageFile = new URL("../package.json", import.meta.url);

export const version = (JSON.parse(readFileSync(packageFile, "utf8")) as { version: string }).version;
