--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  The databases for the tests. SQLite uses a file. The environment variables LAB_POSTGRESQL and
--  LAB_MARIADB contain the targets of the servers, in the format of experiments/sql/README.md, with
--  a schema and a database to which the tests may write.

with Appserver.SQL.MariaDB;
with Appserver.SQL.PostgreSQL;
with Appserver.SQL.SQLite;
with Test_Databases;

package Tested_Databases is

   use Appserver.SQL;
   use Test_Databases;

   PostgreSQL_Variable : constant String := "LAB_POSTGRESQL";
   MariaDB_Variable    : constant String := "LAB_MARIADB";

   procedure Connect (DB : in out SQLite.Connection);
   procedure Prepare
     (Self : in out SQLite.Statement; On : in out SQLite.Connection; Text : String);

   package SQLite_Database is new Database
     (Dialect             =>
        (Name      => +"SQLite",
         Duplicate => "23505",
         Null_Key  => "23502",
         No_Table  => "42P01",
         No_Column => "42703",
         Syntax    => "42601",
         Holds_NUL => True,
         Length    => +"length",
         Blob      => +"blob",
         Serial    => +"integer",
         others    => <>),
      Connection          => SQLite.Connection,
      Statement           => SQLite.Statement,
      Connect             => Connect,
      Connect_As_Stranger => Connect,
      Connect_Nowhere     => Connect,
      Prepare             => Prepare,
      Prepare_Client_Side => Prepare);

   procedure Connect (DB : in out PostgreSQL.Connection);
   procedure Connect_As_Stranger (DB : in out PostgreSQL.Connection);
   procedure Connect_Nowhere (DB : in out PostgreSQL.Connection);
   procedure Prepare
     (Self : in out PostgreSQL.Statement; On : in out PostgreSQL.Connection; Text : String);
   procedure Prepare_Client_Side
     (Self : in out PostgreSQL.Statement; On : in out PostgreSQL.Connection; Text : String);

   package PostgreSQL_Database is new Database
     (Dialect             =>
        (Name       => +"PostgreSQL",
         Duplicate  => "23505",
         Null_Key   => "23502",
         No_Table   => "42P01",
         No_Column  => "42703",
         Syntax     => "42601",
         Holds_NUL  => False,
         Length     => +"char_length",
         Long_Text  => +"text",
         Blob       => +"bytea",
         Serial     => +"serial",
         Sessions   => +("SELECT count(*) FROM pg_stat_activity"
                         & " WHERE application_name = 'appserver tests'"),
         Prepared   => +"SELECT count(*) FROM pg_prepared_statements",
         Id         => +"SELECT pg_backend_pid()",
         Kill       => +"SELECT pg_terminate_backend(",
         After_Kill => +")",
         Slow       => +"SELECT pg_sleep(30)",
         Variable   => +PostgreSQL_Variable),
      Connection          => PostgreSQL.Connection,
      Statement           => PostgreSQL.Statement,
      Connect             => Connect,
      Connect_As_Stranger => Connect_As_Stranger,
      Connect_Nowhere     => Connect_Nowhere,
      Prepare             => Prepare,
      Prepare_Client_Side => Prepare_Client_Side);

   procedure Connect (DB : in out MariaDB.Connection);
   procedure Connect_As_Stranger (DB : in out MariaDB.Connection);
   procedure Connect_Nowhere (DB : in out MariaDB.Connection);
   procedure Prepare
     (Self : in out MariaDB.Statement; On : in out MariaDB.Connection; Text : String);
   procedure Prepare_Client_Side
     (Self : in out MariaDB.Statement; On : in out MariaDB.Connection; Text : String);

   package MariaDB_Database is new Database
     (Dialect             =>
        (Name       => +"MariaDB",
         Duplicate  => "23000",
         Null_Key   => "23000",
         No_Table   => "42S02",
         No_Column  => "42S22",
         Syntax     => "42000",
         Holds_NUL  => True,
         Length     => +"char_length",
         Long_Text  => +"longtext",
         Blob       => +"longblob",
         Serial     => +"serial",
         Sessions   => +("SELECT count(*) FROM information_schema.processlist"
                         & " WHERE db = database()"),
         Prepared   => +("SELECT variable_value FROM information_schema.session_status"
                         & " WHERE variable_name = 'Prepared_stmt_count'"),
         Id         => +"SELECT connection_id()",
         Kill       => +"KILL",
         After_Kill => +"",
         Slow       => +("SELECT count(*) FROM seq_1_to_1000000 a"
                         & " JOIN seq_1_to_1000000 b ON a.seq + b.seq = 7"),
         Variable   => +MariaDB_Variable),
      Connection          => MariaDB.Connection,
      Statement           => MariaDB.Statement,
      Connect             => Connect,
      Connect_As_Stranger => Connect_As_Stranger,
      Connect_Nowhere     => Connect_Nowhere,
      Prepare             => Prepare,
      Prepare_Client_Side => Prepare_Client_Side);

end Tested_Databases;
