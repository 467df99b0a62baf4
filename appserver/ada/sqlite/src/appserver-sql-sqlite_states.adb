--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

with Ada.Strings.Fixed;

package body Appserver.SQL.SQLite_States is

   use type SQLite_Library.Result_Code;

   type Code_Rule is record
      Code  : SQLite_Library.Result_Code;
      State : SQL_State;
   end record;

   --  Codes: https://sqlite.org/rescode.html. States: ISO/IEC 9075-2, clause 24, or, if it has
   --  none, PostgreSQL's manual, appendix A. The first matching rule applies; a primary code also
   --  matches its extended codes. All other codes are HY000, a general error.

   Code_Rules : constant array (Positive range <>) of Code_Rule :=
     [(787,  "23503"),   --  CONSTRAINT_FOREIGNKEY: foreign key violation
      (1299, "23502"),   --  CONSTRAINT_NOTNULL: not null violation
      (275,  "23514"),   --  CONSTRAINT_CHECK: check violation
      (1555, "23505"),   --  CONSTRAINT_PRIMARYKEY: unique violation
      (2067, "23505"),   --  CONSTRAINT_UNIQUE: unique violation
      (2579, "23505"),   --  CONSTRAINT_ROWID: unique violation
      (3091, "42804"),   --  CONSTRAINT_DATATYPE: datatype mismatch
      (19,   "23000"),   --  CONSTRAINT: integrity constraint violation
      (517,  "40001"),   --  BUSY_SNAPSHOT: serialization failure; only a new transaction helps
      (5,    "55P03"),   --  BUSY: lock not available
      (6,    "55P03"),   --  LOCKED: lock not available
      (516,  "40000"),   --  ABORT_ROLLBACK: transaction rollback
      (9,    "57014"),   --  INTERRUPT: query canceled
      (13,   "53100"),   --  FULL: disk full
      (7,    "53200"),   --  NOMEM: out of memory
      (14,   "08001"),   --  CANTOPEN: unable to establish the connection
      (3,    "42501"),   --  PERM: insufficient privilege
      (23,   "42501"),   --  AUTH: insufficient privilege
      (8,    "25006"),   --  READONLY: read only transaction
      (10,   "58030"),   --  IOERR: I/O error
      (11,   "XX001"),   --  CORRUPT: data corrupted
      (26,   "XX001"),   --  NOTADB: data corrupted
      (18,   "54000"),   --  TOOBIG: program limit exceeded
      (20,   "42804")];  --  MISMATCH: datatype mismatch

   type Word_Reference is not null access constant String;

   type Message_Rule is record
      Words : Word_Reference;
      State : SQL_State;
   end record;

   function "+" (Words : String) return Word_Reference is
     (new String'(Words));

   --  SQLITE_ERROR, by the text of SQLite's messages

   Message_Rules : constant array (Positive range <>) of Message_Rule :=
     [(+"syntax error",                    "42601"),   --  syntax error
      (+"incomplete input",                "42601"),
      (+"unrecognized token",              "42601"),
      (+"no such table",                   "42P01"),   --  undefined table
      (+"no such column",                  "42703"),   --  undefined column
      (+"no such function",                "42883"),   --  undefined function
      (+"already exists",                  "42P07"),   --  duplicate table
      (+"integer overflow",                "22003"),   --  numeric value out of range
      (+"within a transaction",            "25001"),   --  active transaction
      (+"no transaction is active",        "25P01")];  --  no active transaction

   General_Error : constant SQLite_Library.Result_Code := 1;

   function Primary
     (Code : SQLite_Library.Result_Code) return SQLite_Library.Result_Code is (Code mod 256);

   function State_Of
     (Code : SQLite_Library.Result_Code; Message : UTF_8_String) return SQL_State is
   begin
      for Rule of Code_Rules loop
         if Rule.Code in Code | Primary (Code) then
            return Rule.State;
         end if;
      end loop;
      if Primary (Code) = General_Error then
         for Rule of Message_Rules loop
            if Ada.Strings.Fixed.Index (Message, Rule.Words.all) > 0 then
               return Rule.State;
            end if;
         end loop;
      end if;
      return "HY000";
   end State_Of;

end Appserver.SQL.SQLite_States;
