/** A file as its text; the build and the tests both read it so. */
declare module "*?raw" {
  const text: string;
  // biome-ignore lint/style/noDefaultExport: what both of them make of a file
  export default text;
}
