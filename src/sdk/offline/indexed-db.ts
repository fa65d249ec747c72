/** The database in the browser: its schema, and its requests as promises. */

/** The steps from each version of the schema to the next one. A new version adds a step and keeps the others. */
const UPGRADES: readonly ((database: IDBDatabase) => void)[] = [
  (database) => {
    database.createObjectStore("rooms");
    database.createObjectStore("entries");
    database.createObjectStore("writes");
  },
];

/** Settles as a request does. */
export const requested = <Result>(request: IDBRequest<Result>): Promise<Result> =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });

/** Settles when a transaction is complete, or has failed: by its own error if it has one, such as a full disk. */
export const completed = (transaction: IDBTransaction): Promise<void> =>
  new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onabort = () => reject(transaction.error ?? new Error("The transaction was aborted"));
  });

/** Opens the database, and brings it to the current version. Rejects for one of a newer version. */
export async function openDatabase(name: string): Promise<IDBDatabase> {
  const request = indexedDB.open(name, UPGRADES.length);
  request.onupgradeneeded = ({ oldVersion }) => {
    for (const upgrade of UPGRADES.slice(oldVersion)) upgrade(request.result);
  };
  return requested(request);
}

/** Deletes the database. Clients that have it open close it when they are asked to. */
export const deleteDatabase = async (name: string): Promise<void> => {
  await requested(indexedDB.deleteDatabase(name));
};
