import { assemble, documentedEndpoints } from "./assemble.ts";

/* The same lists for what cannot wait: scripts of the build, and tests. */

const app = await assemble();

export const ENDPOINTS = app.endpoints;
export const DOCUMENTED = documentedEndpoints(app);
export const UNLISTED = app.unlisted;
export const RESOURCES = app.resources;
export const COMPANY_RESOURCES = app.companyResources;
export const ADMINISTERED = app.administered;
export const SWEEPERS = app.sweeps;
export const MIGRATION_STEPS = app.migrationSteps;
export const REFERENCE = app.reference;
export const ASSEMBLED_PARTS = app.parts;
