/** The program, as it stands beside the harness when both are loaded. */
declare const handler: unknown;
export default handler;
