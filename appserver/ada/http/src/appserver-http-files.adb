--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

with Appserver.HTTP.Byte_Ranges;
with Appserver.HTTP.Conditions;
with Appserver.HTTP.Dates;
with Appserver.HTTP.Linux;
with Appserver.HTTP.Linux_Files;
with Appserver.Media_Ranges;
with Interfaces;

package body Appserver.HTTP.Files is

   use type Linux_Files.Failure;

   ---------------
   -- Directory --
   ---------------

   procedure Open
     (Self : in out Folder; Path : String; Options : Folder_Options := (others => <>))
   is
      Result : Linux_Files.Failure;
   begin
      if not Linux_Files.Refuses_Links then
         raise Folder_Error with
           "this system does not support the flags of openat(2) that reject symbolic links";
      end if;
      Linux_Files.Open_Folder (Path, Self.File, Result);
      if Result /= Linux_Files.None then
         raise Folder_Error with "cannot open the directory " & Path;
      end if;
      Self.Options := Options;
   end Open;

   procedure Close (Self : in out Folder) is
   begin
      if Self.Is_Open then
         Linux.Close (Self.File);
         Self.File := No_File;
      end if;
   end Close;

   overriding procedure Finalize (Self : in out Folder) is
   begin
      Self.Close;
   end Finalize;

   -----------
   -- Paths --
   -----------

   --  Returns the file name for the decoded last name of a path: the index file if the name is
   --  empty

   function Last_Name (Self : Folder; Name : String) return String is
     (if Name = "" and then Self.Options.Index /= null then Self.Options.Index.all else Name);

   --  Opens the file with the percent-encoded Path below the folder, one directory at a time, with
   --  Ending appended to the file name. Closes the subdirectories again.

   procedure Open_Below
     (Self   : Folder;
      Path   : String;
      Ending : String;
      File   : out Descriptor;
      Result : out Linux_Files.Failure)
   is
      Within : Descriptor := Self.File;
      Inner  : Descriptor;
      First  : Positive := Path'First;
      Last   : Natural;

      procedure Leave is
      begin
         if Within /= Self.File then
            Linux.Close (Within);
         end if;
      end Leave;

   begin
      File   := No_File;
      Result := Linux_Files.Missing;
      loop
         Last := First - 1;
         while Last < Path'Last and then Path (Last + 1) /= '/' loop
            Last := Last + 1;
         end loop;
         declare
            Is_Last    : constant Boolean := Last = Path'Last;
            Name       : constant String  := Decoded (Path (First .. Last));
            Entry_Name : constant String  := (if Is_Last then Last_Name (Self, Name) else Name);
         begin
            --  Names are decoded only once
            exit when not Is_Name (Entry_Name);
            if Is_Last then
               Linux_Files.Open_File_In (Within, Entry_Name & Ending, File, Result);
               exit;
            end if;
            Linux_Files.Open_Folder_In (Within, Entry_Name, Inner, Result);
         end;
         exit when Result /= Linux_Files.None;
         Leave;
         Within := Inner;
         First  := Last + 2;
         Result := Linux_Files.Missing;
      end loop;
      Leave;
   exception
      when others =>
         Leave;
         raise;
   end Open_Below;

   ----------------
   -- Validators --
   ----------------

   function Hexadecimal (Value : Long_Long_Integer) return String is
      Digit_Texts : constant String := "0123456789abcdef";
      Result      : String (1 .. 16);
      First       : Positive := Result'Last + 1;
      Rest        : Long_Long_Integer := Value;
   begin
      loop
         First := First - 1;
         Result (First) := Digit_Texts (Natural (Rest mod 16) + 1);
         Rest := Rest / 16;
         exit when Rest = 0;
      end loop;
      return Result (First .. Result'Last);
   end Hexadecimal;

   --  The codings of compressed versions next to a file, in order of preference

   type Coding is (Identity, Brotli, Gzip);

   function Name_Of (Self : Coding) return String is
     (case Self is when Identity => "identity", when Brotli => "br", when Gzip => "gzip");

   function Ending_Of (Self : Coding) return String is
     (case Self is when Identity => "", when Brotli => ".br", when Gzip => ".gz");

   --  Creates an entity tag from the modification time in nanoseconds, the size, and the coding

   function Tag_Of (Facts : Linux_Files.File_Facts; Coded : Coding) return String is
     ('"' & Hexadecimal (abs Long_Long_Integer (Facts.Changed)) & '.'
      & Hexadecimal (Long_Long_Integer (Facts.Fraction)) & '-' & Hexadecimal (Facts.Size)
      & Ending_Of (Coded) & '"');

   function Time_Of (Facts : Linux_Files.File_Facts) return Dates.Common_Time is
     (Dates.Common_Time
        (Interfaces.Integer_64'Max
           (0, Interfaces.Integer_64'Min (Facts.Changed, Dates.Last_Year))));

   ---------------
   -- Responses --
   ---------------

   function Image (Value : Byte_Count) return String is
      Text : constant String := Value'Image;
   begin
      return Text (2 .. Text'Last);
   end Image;

   --  Adds the fields for caches, which are also part of a 304 response (RFC 9110, 15.4.5)

   procedure Add_Cache_Fields (Self : Folder; Builder : in out Response_Builder) is
   begin
      if Self.Options.Cache_Control /= null then
         Builder.Add_Field ("Cache-Control", Self.Options.Cache_Control.all);
      end if;
      if Self.Options.Precompressed then
         Builder.Add_Field ("Vary", "Accept-Encoding");
      end if;
   end Add_Cache_Fields;

   --  Returns the response with the builder's file, or a range of it

   function Part_Response
     (Request : HTTP.Request;
      Facts   : Linux_Files.File_Facts;
      Tag     : String;
      Kind    : not null Constant_Text) return Response
   is
      use type Byte_Ranges.Selection;

      Builder     : Response_Builder renames Request.Builder.all;
      Selected    : Byte_Ranges.Selection := Byte_Ranges.Whole;
      First, Last : Byte_Count;
   begin
      if Request.Has_Field ("Range")
        and then not Request.Is_Head
        and then Conditions.Range_Holds (Request, Tag)
      then
         Byte_Ranges.Read (Request.Field ("Range"), Facts.Size, Selected, First, Last);
      end if;
      case Selected is
         when Byte_Ranges.Unsatisfiable =>
            Builder.Drop_File;
            Builder.Add_Field ("Content-Range", "bytes */" & Image (Facts.Size));
            return Status_Only (Range_Not_Satisfiable);
         when Byte_Ranges.Whole =>
            Builder.File_Length := Facts.Size;
         when Byte_Ranges.Part =>
            Builder.Offset      := First;
            Builder.File_Length := Last - First + 1;
            Builder.Add_Field
              ("Content-Range",
               "bytes " & Image (First) & "-" & Image (Last) & "/" & Image (Facts.Size));
      end case;
      Builder.Add_Field ("Accept-Ranges", "bytes");
      Builder.Add_Field ("ETag", Tag);
      Builder.Add_Field ("Last-Modified", Dates.Image (Time_Of (Facts)));
      return File_Response (Kind, (if Selected = Byte_Ranges.Part then Partial_Content else OK));
   end Part_Response;

   function Response_With
     (Self    : Folder;
      Request : HTTP.Request;
      Facts   : Linux_Files.File_Facts;
      Coded   : Coding;
      Kind    : not null Constant_Text) return Response
   is
      Tag : constant String := Tag_Of (Facts, Coded);
   begin
      Add_Cache_Fields (Self, Request.Builder.all);
      case Conditions.Verdict_On (Request, Tag, Time_Of (Facts)) is
         when Conditions.Go_On =>
            if Coded /= Identity then
               Request.Builder.Add_Field ("Content-Encoding", Name_Of (Coded));
            end if;
            return Part_Response (Request, Facts, Tag, Kind);
         when Conditions.Is_Not_Modified =>
            Request.Builder.Drop_File;
            Request.Builder.Add_Field ("ETag", Tag);
            return Status_Only (Not_Modified);
         when Conditions.Has_Failed =>
            Request.Builder.Drop_File;
            return Status_Only (Precondition_Failed);
      end case;
   end Response_With;

   --  Opens a file and reads its metadata. The builder owns the file as soon as it is open, so that
   --  the server closes it even after an exception. Result is None only for regular files and
   --  directories.

   procedure Open_And_Look
     (Self    : Folder;
      Path    : String;
      Coded   : Coding;
      Builder : in out Response_Builder;
      Facts   : out Linux_Files.File_Facts;
      Result  : out Linux_Files.Failure) is
   begin
      Facts := (Size => 0, Changed => 0, Fraction => 0, others => False);
      Open_Below (Self, Path, Ending_Of (Coded), Builder.File, Result);
      if Result = Linux_Files.None then
         Builder.Offset      := 0;
         Builder.File_Length := 0;
         Linux_Files.Look (Builder.File, Facts, Result);
         if Result /= Linux_Files.None or else not Facts.Is_Regular then
            Builder.Drop_File;
         end if;
         if Result = Linux_Files.None
           and then not Facts.Is_Regular
           and then (Coded /= Identity or else not Facts.Is_Folder)
         then
            Result := Linux_Files.Missing;
         end if;
      end if;
   end Open_And_Look;

   --  Opens the version of the file whose coding has the highest weight. Result is Missing if there
   --  is no file with a coding that the client accepts. A coding is accepted if it is listed, and
   --  "identity" does not have a higher weight.

   procedure Open_Coded
     (Self     : Folder;
      Accepted : String;
      Builder  : in out Response_Builder;
      Path     : String;
      Coded    : out Coding;
      Facts    : out Linux_Files.File_Facts;
      Result   : out Linux_Files.Failure)
   is
      function Weight_Of (Item : Coding) return Media_Ranges.Listed_Weight is
        (Media_Ranges.Coding_Weight (Accepted, Name_Of (Item)));

      type Coding_List is array (1 .. 2) of Coding;

      Min_Weight : constant Media_Ranges.Listed_Weight :=
        Media_Ranges.Own_Weight (Accepted, Name_Of (Identity));
      Order : constant Coding_List :=
        (if Weight_Of (Gzip) > Weight_Of (Brotli) then [Gzip, Brotli] else [Brotli, Gzip]);
   begin
      Result := Linux_Files.Missing;
      for Item of Order loop
         Coded := Item;
         if Weight_Of (Item) > 0 and then Weight_Of (Item) >= Min_Weight then
            Open_And_Look (Self, Path, Item, Builder, Facts, Result);
         end if;
         exit when Result /= Linux_Files.Missing;
      end loop;
   end Open_Coded;

   procedure Open_Best
     (Self    : Folder;
      Request : HTTP.Request;
      Path    : String;
      Coded   : out Coding;
      Facts   : out Linux_Files.File_Facts;
      Result  : out Linux_Files.Failure) is
   begin
      Result := Linux_Files.Missing;
      if Self.Options.Precompressed and then Request.Has_Field ("Accept-Encoding") then
         Open_Coded
           (Self, Request.Field ("Accept-Encoding"), Request.Builder.all, Path, Coded, Facts,
            Result);
      end if;
      if Result = Linux_Files.Missing then
         Coded := Identity;
         Open_And_Look (Self, Path, Identity, Request.Builder.all, Facts, Result);
      end if;
   end Open_Best;

   Max_Location_Length : constant := 2_048;

   --  Returns the media type of the file for a path

   function Type_Of (Self : Folder; Path : String) return not null Constant_Text is
     (if Path = "" or else Path (Path'Last) = '/' then Media_Type_Of (Self.Options.Index.all)
      else Media_Type_Of (Path));

   function Redirected (Request : HTTP.Request) return Response is
      Query : constant String :=
        (if Length (Request.Query_Part) = 0 then "" else '?' & Request.Query);
   begin
      if Length (Request.Target) + Query'Length >= Max_Location_Length then
         return Status_Only (Not_Found);
      end if;
      Request.Builder.Add_Field ("Location", Request.Path & '/' & Query);
      return Status_Only (Moved_Permanently);
   end Redirected;

   function Respond
     (Self : Folder; Request : HTTP.Request; Prefix : String) return Response
   is
      Path   : String renames
        Request.Bytes (Request.Target.First + Prefix'Length .. Request.Target.Last);
      Facts  : Linux_Files.File_Facts;
      Coded  : Coding;
      Result : Linux_Files.Failure;
   begin
      if Request.Method /= Get then
         return Not_Allowed (Request, "GET, HEAD, OPTIONS");
      end if;
      Open_Best (Self, Request, Path, Coded, Facts, Result);
      if Result = Linux_Files.None and then Facts.Is_Regular then
         return Response_With (Self, Request, Facts, Coded, Type_Of (Self, Path));
      elsif Result = Linux_Files.None and then Self.Options.Index /= null then
         return Redirected (Request);
      end if;
      return Status_Only
        (if Result = Linux_Files.Out_Of_Resources then Service_Unavailable else Not_Found);
   end Respond;

   -----------
   -- Types --
   -----------

   HTML_Text   : aliased constant String := "text/html; charset=utf-8";
   CSS_Text    : aliased constant String := "text/css; charset=utf-8";
   CSV_Text    : aliased constant String := "text/csv; charset=utf-8";
   Markdown    : aliased constant String := "text/markdown; charset=utf-8";
   JavaScript  : aliased constant String := "text/javascript; charset=utf-8";
   Web_Program : aliased constant String := "application/wasm";
   Manifest    : aliased constant String := "application/manifest+json";
   PDF         : aliased constant String := "application/pdf";
   Zip         : aliased constant String := "application/zip";
   Gzip_Type   : aliased constant String := "application/gzip";
   PNG         : aliased constant String := "image/png";
   JPEG        : aliased constant String := "image/jpeg";
   GIF         : aliased constant String := "image/gif";
   SVG         : aliased constant String := "image/svg+xml";
   WebP        : aliased constant String := "image/webp";
   AVIF        : aliased constant String := "image/avif";
   Icon        : aliased constant String := "image/vnd.microsoft.icon";
   MP3         : aliased constant String := "audio/mpeg";
   MP4         : aliased constant String := "video/mp4";
   WebM        : aliased constant String := "video/webm";
   WOFF        : aliased constant String := "font/woff";
   WOFF_2      : aliased constant String := "font/woff2";

   Max_Ending_Length : constant := 11;

   type Known_Type is record
      Ending : String (1 .. Max_Ending_Length);
      Kind   : not null Constant_Text := Octet_Stream'Access;
   end record;

   Known_Types : constant array (Positive range <>) of Known_Type :=
     [("html       ", HTML_Text'Access),
      ("htm        ", HTML_Text'Access),
      ("css        ", CSS_Text'Access),
      ("js         ", JavaScript'Access),
      ("mjs        ", JavaScript'Access),
      ("json       ", JSON_Text'Access),
      ("map        ", JSON_Text'Access),
      ("webmanifest", Manifest'Access),
      ("xml        ", XML_Text'Access),
      ("txt        ", Plain_Text'Access),
      ("csv        ", CSV_Text'Access),
      ("md         ", Markdown'Access),
      ("wasm       ", Web_Program'Access),
      ("pdf        ", PDF'Access),
      ("zip        ", Zip'Access),
      ("gz         ", Gzip_Type'Access),
      ("png        ", PNG'Access),
      ("jpg        ", JPEG'Access),
      ("jpeg       ", JPEG'Access),
      ("gif        ", GIF'Access),
      ("svg        ", SVG'Access),
      ("webp       ", WebP'Access),
      ("avif       ", AVIF'Access),
      ("ico        ", Icon'Access),
      ("mp3        ", MP3'Access),
      ("mp4        ", MP4'Access),
      ("webm       ", WebM'Access),
      ("woff       ", WOFF'Access),
      ("woff2      ", WOFF_2'Access)];

   function Media_Type_Of (Name : String) return not null Constant_Text is
      Ending : String (1 .. Max_Ending_Length) := [others => ' '];
      Dot    : Natural := 0;
   begin
      for K in reverse Name'Range loop
         exit when Name (K) = '/';
         if Name (K) = '.' then
            Dot := K;
            exit;
         end if;
      end loop;
      if Dot > 0 and then Name'Last - Dot in 1 .. Max_Ending_Length then
         for K in 1 .. Name'Last - Dot loop
            Ending (K) :=
              (if Name (Dot + K) in 'A' .. 'Z'
               then Character'Val (Character'Pos (Name (Dot + K)) + 32)
               else Name (Dot + K));
         end loop;
         for Type_Entry of Known_Types loop
            if Type_Entry.Ending = Ending then
               return Type_Entry.Kind;
            end if;
         end loop;
      end if;
      return Octet_Stream'Access;
   end Media_Type_Of;

end Appserver.HTTP.Files;
