/** What a probe has seen, and what is learned of it. */
import { type Behavior, type BehaviorPoint, createBehavior } from "./behavior.ts";

/** What was seen, in the words of the sandbox's variants. */
export type DetectedVariants = Record<string, string | number>;

const pointsByVariant: Record<string, BehaviorPoint> = {
  lists: "lists",
  structures: "structures",
  status: "status",
  "key-case": "keyCase",
  inactive: "inactive",
  "hourly-headers": "hourlyHeaders",
  "mutate-elements": "mutateElements",
  "mutate-answer": "mutateAnswer",
  noop: "noop",
};

/** @param found what the searches of the probe have learned themselves */
export function learnDetected(
  behavior: Behavior,
  seen: DetectedVariants,
  found: Behavior = createBehavior(),
): void {
  for (const [name, value] of Object.entries(seen)) {
    const point = pointsByVariant[name];
    if (point) behavior.learn(point, value as never);
  }
  for (const point of ["keys", "maxKeys", "statusCase", "source", "listColumn", "status"] as const) {
    const value = found.get(point);
    if (value !== undefined) behavior.learn(point, value as never);
    else if (point === "maxKeys" && found.get("keys") !== undefined) behavior.forget("maxKeys");
  }
  const [beyond, size] = String(seen.page ?? "").split(":");
  if (beyond === "cap") behavior.learn("pageCut", Number(size));
  else if (beyond === "refuse") behavior.learn("maxPage", Number(size));
  const lag = seen["search-lag"];
  if (typeof lag === "number") behavior.learn("searchLag", lag);
}
