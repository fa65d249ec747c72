/** The declarations of events, resources and bindings as text; the bundle provides them. */
declare module "atrium/workflow/declarations" {
  const text: string;
  export default text;
}
