/**
 * What `startSandbox` takes: an option that does not exist, or a value that is none, is refused by its name.
 */
import * as v from "valibot";
import { UsageError } from "../errors.ts";
import { isObject } from "../is-object.ts";
import type { StartSandboxOptions } from "./public-types.ts";
import { maxWindowSeconds } from "./rules/limits.ts";

const maxPort = 65_535;
const maxRequests = 1_000_000_000;

const wholeNumber = (min: number, max: number) => {
  const message = `must be a whole number from ${min} to ${max}`;
  return v.optional(
    v.pipe(v.number(message), v.integer(message), v.minValue(min, message), v.maxValue(max, message)),
  );
};
const matching = (pattern: RegExp, message: string) =>
  v.optional(v.pipe(v.string(message), v.regex(pattern, message)));
const notText = "must be a string";

const schema = v.strictObject({
  folder: v.optional(v.pipe(v.string(notText), v.nonEmpty("must not be empty"))),
  port: wholeNumber(0, maxPort),
  hourlyLimit: wholeNumber(1, maxRequests),
  windowSeconds: wholeNumber(1, maxWindowSeconds),
  monthlyLimit: wholeNumber(1, maxRequests),
  faults: v.optional(v.array(v.string(notText), "must be an array of strings")),
  variants: v.optional(v.custom<Record<string, unknown>>(isObject, "must be an object of names and values")),
  region: matching(/^[a-z]{2}$/, "must be two lower-case letters, such as jp"),
  seed: wholeNumber(0, Number.MAX_SAFE_INTEGER),
  apiKey: matching(/^ecm_[a-z]{2}_[A-Za-z0-9]{43}$/, "must be an API key: ecm_us_ and 43 letters or digits"),
  // An empty token would let everybody in.
  adminToken: matching(/^[\x21-\x7e]+$/, "must be ASCII characters without spaces, and not empty"),
});

/** @throws UsageError that begins with the name of the option */
export function checkedOptions(options: StartSandboxOptions): StartSandboxOptions {
  if (!isObject(options)) {
    throw new UsageError("The options of startSandbox must be an object, such as { seed: 1 }");
  }
  const result = v.safeParse(schema, options, { abortEarly: true });
  if (result.success) return result.output;
  const [{ path = [], message, type, expected }] = result.issues;
  const name = path.map(({ key }) => String(key)).join(".");
  if (type === "strict_object" && expected === "never") {
    const names = Object.keys(schema.entries).join(", ");
    throw new UsageError(`${name} is not an option of startSandbox; its options: ${names}`);
  }
  throw new UsageError(`${name} ${message}`);
}
