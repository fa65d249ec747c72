/** Where the pages of the API reference are. */
const REFERENCE = "/docs/reference";

export const operationAddress = (operationId: string): string => `${REFERENCE}/${operationId}`;

export const SCHEMAS_ADDRESS = `${REFERENCE}/schemas`;

export const schemaAddress = (name: string): string => `${SCHEMAS_ADDRESS}/${name}`;

/** A credential, which the first page explains. */
export const credentialAddress = (name: string): string => `${REFERENCE}#credential-${name}`;
