/** The guide as text. */
declare module "*.md?raw" {
  const markdown: string;
  export default markdown;
}
