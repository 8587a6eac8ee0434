/** The lines of Node that are supported, and how each is had: from the registry, into a folder of its own. */
import { execFileSync } from "node:child_process";
import { join } from "node:path";

/** The oldest version, and the newest of each later line. */
export const supportedLines = ["20.19.0", "22", "24", "26"];

/** @param folder where it is put @returns the program's path */
export function fetchNode(version, folder) {
  const platform = process.platform === "win32" ? "win" : process.platform;
  const name = `node-${platform}-${process.arch}`;
  const prefix = join(folder, version);
  execFileSync("npm", ["install", "--silent", "--ignore-scripts", "--prefix", prefix, `${name}@${version}`], {
    cwd: folder,
    stdio: "inherit",
  });
  return join(prefix, "node_modules", name, "bin", process.platform === "win32" ? "node.exe" : "node");
}
