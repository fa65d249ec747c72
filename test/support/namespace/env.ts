/** What the stand-in is given. */
export interface NamespaceEnv {
  readonly LOADER: WorkerLoader;
  /** Where scripts are kept. */
  readonly SCRIPTS: R2Bucket;
  /** The one account, its one namespace, and the token that may write there. */
  readonly ACCOUNT_ID: string;
  readonly NAMESPACE: string;
  readonly API_TOKEN: string;
}
