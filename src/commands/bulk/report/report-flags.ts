/** `--report FILE --redact`, for whoever writes a report. */
import { usageError } from "../../../errors.ts";

export interface ReportFlags {
  report?: string;
  redact?: boolean;
}

/** @throws UsageError for a flag that means nothing, or a file that is no page by its name */
export function requireReportFlags({ report: file, redact }: ReportFlags): void {
  if (file === undefined && redact)
    throw usageError("--redact is for the report", "Name its file, such as --report report.html");
  if (file !== undefined && !/.\.html?$/i.test(file))
    throw usageError(
      `--report: ${file} is no page by its name`,
      `Name it ${file.replace(/\.[^./\\]*$/, "") || "report"}.html`,
    );
}
