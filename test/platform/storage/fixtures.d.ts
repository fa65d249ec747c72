/** Files that Vite takes as text. */
declare module "*.sql?raw" {
  const text: string;
  export default text;
}
