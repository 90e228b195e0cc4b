import { type ObjectLiteral, type OrderByCondition, SelectQueryBuilder } from 'typeorm';

/**
 * TypeORM's SELECT, whose pages may be in the order of a column that it does not show. For a page of rows with their relations,
 * TypeORM first selects the ids from the whole query, in an order whose columns that query must have; it does not add them
 * itself (docs/decisions/0024).
 */
export class PageQueryBuilder<Entity extends ObjectLiteral> extends SelectQueryBuilder<Entity> {
  /** The order of the page whose ids the next clone selects. */
  private pageOrder: string[] = [];

  protected override createOrderByCombinedWithSelectExpression(parentAlias: string): [string, OrderByCondition] {
    this.pageOrder = Object.keys(this.expressionMap.allOrderBys);
    return super.createOrderByCombinedWithSelectExpression(parentAlias);
  }

  override clone(): this {
    const copy = super.clone();
    copy.addSelect(this.pageOrder.flatMap((criterion) => this.unselectedColumn(criterion) ?? []));
    this.pageOrder = [];
    return copy;
  }

  /** The path of a column such as `Hall.position`, unless the query selects it anyway. */
  private unselectedColumn(criterion: string): string | undefined {
    const [aliasName = '', ...path] = criterion.split('.');
    if (path.length === 0) return undefined;
    const { metadata } = this.expressionMap.findAliasByName(aliasName);
    const name = path.join('.');
    const column = metadata.findColumnWithPropertyPath(name) ?? metadata.findColumnWithDatabaseName(name);
    if (!column) return undefined;
    const selection = `${aliasName}.${column.propertyPath}`;
    const selected = this.expressionMap.selects.map((select) => select.selection);
    const isSelected = selected.includes(selection) || (column.isSelect && selected.includes(aliasName));
    // TypeORM adds the primary key of whatever it selects a column of.
    const isKey = column.isPrimary && selected.some((each) => each?.startsWith(`${aliasName}.`));
    return isSelected || isKey ? undefined : selection;
  }
}
