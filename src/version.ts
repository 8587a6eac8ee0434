/** The version of the program, as `package.json` has it. */
import packageFile from "../package.json" with { type: "json" };

export const version = packageFile.version;

/** Of what `ecm commands --schemas` describes: raised when a reader of an older one would go wrong. */
export const schemaVersion = 1;
