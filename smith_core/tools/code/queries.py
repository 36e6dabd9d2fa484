"""Tree-sitter queries: which nodes of a language's syntax tree are symbols, and of what kind.

A capture @name is the symbol's name; the capture whose name is a kind is the whole symbol. `@receiver` names the type
that a method belongs to where the method stands outside of it, and `@inside` a node that gives its name to those in it.
"""

from collections.abc import Mapping

_ECMA = """
(function_declaration name: (identifier) @name) @function
(generator_function_declaration name: (identifier) @name) @function
(method_definition name: (_) @name) @method
(program (lexical_declaration "const" (variable_declarator name: (identifier) @name
    value: [(arrow_function) (function_expression)])) @function)
(program (export_statement (lexical_declaration "const" (variable_declarator name: (identifier) @name
    value: [(arrow_function) (function_expression)])) @function))
(program (lexical_declaration kind: "const" (variable_declarator name: (identifier) @name)) @constant)
(program (export_statement (lexical_declaration kind: "const"
    (variable_declarator name: (identifier) @name)) @constant))
(program (lexical_declaration kind: "let" (variable_declarator name: (identifier) @name)) @variable)
(program (export_statement (lexical_declaration kind: "let"
    (variable_declarator name: (identifier) @name)) @variable))
(program (variable_declaration (variable_declarator name: (identifier) @name)) @variable)
(assignment_expression left: (member_expression property: (property_identifier) @name)
    right: [(arrow_function) (function_expression)]) @function
(pair key: (property_identifier) @name value: [(arrow_function) (function_expression)]) @method
"""

_TYPESCRIPT = """
(class_declaration name: (type_identifier) @name) @class
(abstract_class_declaration name: (type_identifier) @name) @class
(public_field_definition name: (property_identifier) @name
    value: [(arrow_function) (function_expression)]) @method
(interface_declaration name: (type_identifier) @name) @interface
(enum_declaration name: (identifier) @name) @enum
(type_alias_declaration name: (type_identifier) @name) @type
(internal_module name: (_) @name) @module
(module name: (_) @name) @module
(function_signature name: (identifier) @name) @function
(method_signature name: (_) @name) @method
(abstract_method_signature name: (_) @name) @method
"""

_C = """
(function_definition declarator: (function_declarator declarator: (identifier) @name)) @function
(function_definition declarator: (pointer_declarator
    declarator: (function_declarator declarator: (identifier) @name))) @function
(function_definition declarator: (pointer_declarator (pointer_declarator
    declarator: (function_declarator declarator: (identifier) @name)))) @function
(declaration declarator: (function_declarator declarator: (identifier) @name)) @function
(declaration declarator: (pointer_declarator
    declarator: (function_declarator declarator: (identifier) @name))) @function
(struct_specifier name: (type_identifier) @name body: (_)) @struct
(union_specifier name: (type_identifier) @name body: (_)) @union
(enum_specifier name: (type_identifier) @name body: (_)) @enum
(type_definition declarator: (type_identifier) @name) @type
(type_definition declarator: (function_declarator declarator: (parenthesized_declarator
    (pointer_declarator declarator: (type_identifier) @name)))) @type
(preproc_def name: (identifier) @name) @constant
(preproc_function_def name: (identifier) @name) @macro
(translation_unit (declaration declarator: (init_declarator declarator: (identifier) @name)) @variable)
(translation_unit (declaration declarator: (init_declarator
    declarator: (array_declarator declarator: (identifier) @name))) @variable)
"""

QUERIES: Mapping[str, str] = {
    "python": """
(class_definition name: (identifier) @name) @class
(function_definition name: (identifier) @name) @function
(module (expression_statement (assignment left: (identifier) @name)) @constant)
(type_alias_statement left: (type) @name) @type
""",
    "javascript": _ECMA
    + """
(class_declaration name: (identifier) @name) @class
(field_definition property: (property_identifier) @name value: [(arrow_function) (function_expression)]) @method
""",
    "typescript": _ECMA + _TYPESCRIPT,
    "tsx": _ECMA + _TYPESCRIPT,
    "go": """
(function_declaration name: (identifier) @name) @function
(method_declaration receiver: (parameter_list (parameter_declaration type: [
    (type_identifier) @receiver (pointer_type (type_identifier) @receiver)
    (generic_type type: (type_identifier) @receiver)
    (pointer_type (generic_type type: (type_identifier) @receiver))]))
    name: (field_identifier) @name) @method
(type_declaration (type_spec name: (type_identifier) @name type: (struct_type)) @struct)
(type_declaration (type_spec name: (type_identifier) @name type: (interface_type)) @interface)
(type_declaration (type_spec name: (type_identifier) @name
    type: [(type_identifier) (map_type) (slice_type) (array_type) (function_type) (pointer_type)
        (channel_type) (qualified_type) (generic_type)]) @type)
(type_declaration (type_alias name: (type_identifier) @name) @type)
(source_file (const_declaration (const_spec name: (identifier) @name) @constant))
(source_file (var_declaration (var_spec name: (identifier) @name) @variable))
(source_file (var_declaration (var_spec_list (var_spec name: (identifier) @name) @variable)))
""",
    "rust": """
(function_item name: (identifier) @name) @function
(function_signature_item name: (identifier) @name) @function
(struct_item name: (type_identifier) @name) @struct
(enum_item name: (type_identifier) @name) @enum
(union_item name: (type_identifier) @name) @union
(trait_item name: (type_identifier) @name) @trait
(type_item name: (type_identifier) @name) @type
(mod_item name: (identifier) @name) @module
(macro_definition name: (identifier) @name) @macro
(const_item name: (identifier) @name) @constant
(static_item name: (identifier) @name) @constant
(impl_item type: (type_identifier) @name) @inside
(impl_item type: (generic_type type: (type_identifier) @name)) @inside
""",
    "c": _C,
    "cpp": _C
    + """
(function_definition declarator: (function_declarator declarator: (field_identifier) @name)) @method
(function_definition declarator: (reference_declarator
    (function_declarator declarator: [(identifier) (field_identifier)] @name))) @function
(function_definition declarator: (function_declarator declarator: (qualified_identifier
    scope: (_) @receiver name: [(identifier) (destructor_name) (operator_name)] @name))) @method
(function_definition declarator: (function_declarator declarator: (qualified_identifier name: (qualified_identifier
    scope: (_) @receiver name: [(identifier) (destructor_name) (operator_name)] @name)))) @method
(function_definition declarator: (_ (function_declarator declarator: (qualified_identifier
    scope: (_) @receiver name: [(identifier) (operator_name)] @name)))) @method
(function_definition declarator: (function_declarator
    declarator: [(destructor_name) (operator_name)] @name)) @method
(field_declaration declarator: (function_declarator declarator: (field_identifier) @name)) @method
(field_declaration declarator: (pointer_declarator
    (function_declarator declarator: (field_identifier) @name))) @method
(class_specifier name: (type_identifier) @name body: (_)) @class
(namespace_definition name: (_) @name) @module
(alias_declaration name: (type_identifier) @name) @type
(concept_definition name: (identifier) @name) @type
""",
    "java": """
(class_declaration name: (identifier) @name) @class
(record_declaration name: (identifier) @name) @class
(interface_declaration name: (identifier) @name) @interface
(annotation_type_declaration name: (identifier) @name) @interface
(enum_declaration name: (identifier) @name) @enum
(method_declaration name: (identifier) @name) @method
(constructor_declaration name: (identifier) @name) @method
(field_declaration (modifiers "static" "final") declarator: (variable_declarator name: (identifier) @name)) @constant
(constant_declaration declarator: (variable_declarator name: (identifier) @name)) @constant
""",
    "lua": """
(function_declaration name: (identifier) @name) @function
(function_declaration name: (dot_index_expression table: (_) @receiver field: (identifier) @name)) @function
(function_declaration name: (method_index_expression table: (_) @receiver method: (identifier) @name)) @method
(assignment_statement (variable_list name: (identifier) @name)
    (expression_list value: (function_definition))) @function
(assignment_statement (variable_list name: (dot_index_expression table: (_) @receiver field: (identifier) @name))
    (expression_list value: (function_definition))) @function
(chunk (variable_declaration (assignment_statement (variable_list name: (identifier) @name))) @variable)
(field name: (identifier) @name value: (function_definition)) @function
""",
    "ruby": """
(class name: [(constant) (scope_resolution)] @name) @class
(module name: [(constant) (scope_resolution)] @name) @module
(method name: (_) @name) @method
(singleton_method name: (_) @name) @method
(assignment left: (constant) @name) @constant
""",
}
