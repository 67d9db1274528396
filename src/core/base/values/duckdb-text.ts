/* Texts in statements to DuckDB, which reads and writes files of tables. */

export const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/** A path that means one file, with any name; DuckDB would take these characters for a pattern. */
export const fileAt = (path: string): string => literal(path.replaceAll(/[*?[]/g, "[$&]"));
