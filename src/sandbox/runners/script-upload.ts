/** A script as it is uploaded to a dispatch namespace, and the form that uploads it. */

/** A script as it is uploaded. */
export interface ScriptUpload {
  readonly mainModule: string;
  /** The text of each ES module by its name. */
  readonly modules: Readonly<Record<string, string>>;
  readonly compatibilityDate: string;
  readonly compatibilityFlags: readonly string[];
  readonly limits: { readonly cpuMs: number; readonly subRequests: number };
  /** At most eight, none with a `,` or a `&`. */
  readonly tags: readonly string[];
}

const MODULE_TYPE = "application/javascript+module";

export function formOf(upload: ScriptUpload): FormData {
  const metadata = {
    main_module: upload.mainModule,
    bindings: [],
    compatibility_date: upload.compatibilityDate,
    compatibility_flags: upload.compatibilityFlags,
    limits: { cpu_ms: upload.limits.cpuMs, subrequests: upload.limits.subRequests },
    tags: upload.tags,
    observability: { enabled: false },
  };
  const form = new FormData();
  form.append("metadata", JSON.stringify(metadata));
  for (const [name, text] of Object.entries(upload.modules)) {
    form.append(name, new File([text], name, { type: MODULE_TYPE }));
  }
  return form;
}
