/** The version of the program, as `package.json` has it. */
import packageFile from "../package.json" with { type: "json" };

export const version = packageFile.version;
