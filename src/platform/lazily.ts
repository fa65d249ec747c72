/** Modules that few requests need: each is loaded with the first use of it, so that an isolate starts sooner. */

const late: (() => Promise<unknown>)[] = [];

/** Returns a function that loads a module when it is first called, and has it from then on. */
export function lazily<Module>(load: () => Promise<Module>): () => Promise<Module> {
  let loaded: Module | null = null;
  const get = async () => {
    loaded ??= await load();
    return loaded;
  };
  late.push(get);
  return get;
}

/** Loads all of them. Tests begin with it: their runner fetches a module by I/O, for which another request cannot wait. */
export async function loadLate(): Promise<void> {
  for (const get of late) await get(); // also those that these bring
}
