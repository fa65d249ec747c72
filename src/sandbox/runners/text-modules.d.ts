/** Files that the bundler takes as text. */
declare module "*.txt" {
  const text: string;
  export default text;
}
