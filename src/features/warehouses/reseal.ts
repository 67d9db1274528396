import { sealedColumn } from "../../core/admin/secrets/rotate.ts";
import { selectWarehouses, updateWarehouses } from "./store.ts";
import { sealedTextOf, withSealedText } from "./stored-warehouse.ts";

/**
 * The credentials of warehouses. Credentials whose key is lost are left unchanged, because the
 * integration keeps its progress; declaring it again replaces them.
 */
export const warehouseCredentials = sealedColumn({
  select: selectWarehouses,
  valueIn: (row) => sealedTextOf(row.workspaceId, row),
  update: (tx, rows) =>
    updateWarehouses(
      tx,
      rows.map(({ row, sealed }) => ({ ...row, warehouse: withSealedText(row.warehouse, sealed) })),
    ),
});
