/** The SDK's sources as text. */
declare module "atrium/source/*" {
  const text: string;
  export default text;
}
