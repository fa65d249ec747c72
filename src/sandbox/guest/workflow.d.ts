/** The program's module, which is loaded beside the harness. */
declare const handler: unknown;
export default handler;
