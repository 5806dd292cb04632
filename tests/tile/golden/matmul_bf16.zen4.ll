; zen4
define internal void @"point"(ptr %".1", ptr %".2", ptr noalias %".3", i64 %".4")
{
entry:
  br label %"start"
start:
  %".6" = getelementptr i64, ptr %".2", i64 0
  %".7" = load i64, ptr %".6"
  %".8" = getelementptr i64, ptr %".2", i64 1
  %".9" = load i64, ptr %".8"
  %".10" = getelementptr i64, ptr %".2", i64 2
  %".11" = load i64, ptr %".10"
  %".12" = urem i64 %".4", %".11"
  %".13" = udiv i64 %".4", %".11"
  %".14" = urem i64 %".13", %".9"
  %".15" = udiv i64 %".13", %".9"
  %".16" = urem i64 %".15", %".7"
  %".17" = udiv i64 %".15", %".7"
  %".18" = getelementptr ptr, ptr %".1", i64 0
  %".19" = load ptr, ptr %".18"
  %".20" = getelementptr ptr, ptr %".1", i64 1
  %".21" = load ptr, ptr %".20"
  %".22" = getelementptr ptr, ptr %".1", i64 2
  %".23" = load ptr, ptr %".22"
  %".24" = trunc i64 %".16" to i32
  %".25" = trunc i64 %".14" to i32
  %".26" = trunc i64 %".12" to i32
  %".27" = trunc i64 %".7" to i32
  %".28" = trunc i64 %".9" to i32
  %".29" = trunc i64 %".11" to i32
  %".30" = trunc i64 %".16" to i32
  %".31" = trunc i64 %".14" to i32
  %".32" = trunc i64 %".12" to i32
  %".33" = sext i32 %".30" to i64
  %".34" = sext i32 %".32" to i64
  %".35" = mul i64 %".33", 4
  %".36" = mul i64 %".34", 6
  %".37" = icmp ule i64 %".35", 0
  %".38" = icmp ule i64 %".36", 0
  %".39" = and i1 %".37", %".38"
  %".40" = mul i64 %".35", 6
  %".41" = add i64 %".40", %".36"
  %".42" = getelementptr i16, ptr %".19", i64 %".41"
  %".43" = getelementptr i8, ptr %".3", i64 0
  %".44" = xor i1 %".39", -1
  br i1 %".44", label %"then", label %"end"
then:
  br label %"loop"
end:
  %".110" = select  i1 %".39", ptr %".42", ptr %".43"
  %".111" = trunc i64 %".16" to i32
  %".112" = trunc i64 %".14" to i32
  %".113" = trunc i64 %".12" to i32
  %".114" = sext i32 %".113" to i64
  %".115" = sext i32 %".112" to i64
  %".116" = mul i64 %".114", 6
  %".117" = mul i64 %".115", 16
  %".118" = icmp ule i64 %".116", 0
  %".119" = icmp ule i64 %".117", 0
  %".120" = and i1 %".118", %".119"
  %".121" = mul i64 %".116", 16
  %".122" = add i64 %".121", %".117"
  %".123" = getelementptr i16, ptr %".21", i64 %".122"
  %".124" = getelementptr i8, ptr %".3", i64 64
  %".125" = xor i1 %".120", -1
  br i1 %".125", label %"then.1", label %"end.1"
loop:
  %"i" = phi  i64 [0, %"then"], [%".62", %"body"]
  %".47" = icmp slt i64 %"i", 4
  br i1 %".47", label %"body", label %"done"
body:
  %".49" = mul i64 %"i", 6
  %".50" = getelementptr inbounds i16, ptr %".43", i64 %".49"
  %".51" = bitcast <6 x float> <float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000> to <6 x i32>
  %".52" = lshr <6 x i32> %".51", <i32 16, i32 16, i32 16, i32 16, i32 16, i32 16>
  %".53" = and <6 x i32> %".52", <i32 1, i32 1, i32 1, i32 1, i32 1, i32 1>
  %".54" = add <6 x i32> %".53", <i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767>
  %".55" = add <6 x i32> %".51", %".54"
  %".56" = fcmp uno <6 x float> <float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000>, <float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000>
  %".57" = or <6 x i32> %".51", <i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304>
  %".58" = select  <6 x i1> %".56", <6 x i32> %".57", <6 x i32> %".55"
  %".59" = lshr <6 x i32> %".58", <i32 16, i32 16, i32 16, i32 16, i32 16, i32 16>
  %".60" = trunc <6 x i32> %".59" to <6 x i16>
  store <6 x i16> %".60", ptr %".50", align 2
  %".62" = add i64 %"i", 1
  br label %"loop"
done:
  %".64" = icmp slt i64 %".35", 0
  %".65" = sub i64 0, %".35"
  %".66" = select  i1 %".64", i64 %".65", i64 0
  %".67" = sub i64 4, %".35"
  %".68" = icmp slt i64 %".67", 4
  %".69" = select  i1 %".68", i64 %".67", i64 4
  %".70" = icmp slt i64 %".36", 0
  %".71" = sub i64 0, %".36"
  %".72" = select  i1 %".70", i64 %".71", i64 0
  %".73" = sub i64 6, %".36"
  %".74" = icmp slt i64 %".73", 6
  %".75" = select  i1 %".74", i64 %".73", i64 6
  br label %"loop.1"
loop.1:
  %"i.1" = phi  i64 [%".66", %"done"], [%".107", %"done.2"]
  %".77" = icmp slt i64 %"i.1", %".69"
  br i1 %".77", label %"body.1", label %"done.1"
body.1:
  br label %"loop.2"
done.1:
  br label %"end"
loop.2:
  %"i.2" = phi  i64 [%".72", %"body.1"], [%".105", %"body.2"]
  %".80" = icmp slt i64 %"i.2", %".75"
  br i1 %".80", label %"body.2", label %"done.2"
body.2:
  %".82" = add i64 %".35", %"i.1"
  %".83" = add i64 %".36", %"i.2"
  %".84" = mul i64 %".82", 6
  %".85" = add i64 %".84", %".83"
  %".86" = getelementptr inbounds i16, ptr %".19", i64 %".85"
  %".87" = load i16, ptr %".86", align 2
  %".88" = zext i16 %".87" to i32
  %".89" = shl i32 %".88", 16
  %".90" = bitcast i32 %".89" to float
  %".91" = mul i64 %"i.1", 6
  %".92" = add i64 %".91", %"i.2"
  %".93" = getelementptr inbounds i16, ptr %".43", i64 %".92"
  %".94" = bitcast float %".90" to i32
  %".95" = lshr i32 %".94", 16
  %".96" = and i32 %".95", 1
  %".97" = add i32 %".96", 32767
  %".98" = add i32 %".94", %".97"
  %".99" = fcmp uno float %".90", %".90"
  %".100" = or i32 %".94", 4194304
  %".101" = select  i1 %".99", i32 %".100", i32 %".98"
  %".102" = lshr i32 %".101", 16
  %".103" = trunc i32 %".102" to i16
  store i16 %".103", ptr %".93", align 2
  %".105" = add i64 %"i.2", 1
  br label %"loop.2"
done.2:
  %".107" = add i64 %"i.1", 1
  br label %"loop.1"
then.1:
  br label %"loop.3"
end.1:
  %".191" = select  i1 %".120", ptr %".123", ptr %".124"
  %".192" = trunc i64 %".16" to i32
  %".193" = trunc i64 %".14" to i32
  %".194" = trunc i64 %".12" to i32
  %".195" = sext i32 %".192" to i64
  %".196" = sext i32 %".193" to i64
  %".197" = mul i64 %".195", 4
  %".198" = mul i64 %".196", 16
  %".199" = icmp ule i64 %".197", 0
  %".200" = icmp ule i64 %".198", 0
  %".201" = and i1 %".199", %".200"
  %".202" = mul i64 %".197", 16
  %".203" = add i64 %".202", %".198"
  %".204" = getelementptr i16, ptr %".23", i64 %".203"
  %".205" = getelementptr i8, ptr %".3", i64 256
  %".206" = xor i1 %".201", -1
  br i1 %".206", label %"then.2", label %"end.2"
loop.3:
  %"i.3" = phi  i64 [0, %"then.1"], [%".143", %"body.3"]
  %".128" = icmp slt i64 %"i.3", 6
  br i1 %".128", label %"body.3", label %"done.3"
body.3:
  %".130" = mul i64 %"i.3", 16
  %".131" = getelementptr inbounds i16, ptr %".124", i64 %".130"
  %".132" = bitcast <16 x float> <float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000> to <16 x i32>
  %".133" = lshr <16 x i32> %".132", <i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16>
  %".134" = and <16 x i32> %".133", <i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1>
  %".135" = add <16 x i32> %".134", <i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767>
  %".136" = add <16 x i32> %".132", %".135"
  %".137" = fcmp uno <16 x float> <float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000>, <float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000>
  %".138" = or <16 x i32> %".132", <i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304>
  %".139" = select  <16 x i1> %".137", <16 x i32> %".138", <16 x i32> %".136"
  %".140" = lshr <16 x i32> %".139", <i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16>
  %".141" = trunc <16 x i32> %".140" to <16 x i16>
  store <16 x i16> %".141", ptr %".131", align 2
  %".143" = add i64 %"i.3", 1
  br label %"loop.3"
done.3:
  %".145" = icmp slt i64 %".116", 0
  %".146" = sub i64 0, %".116"
  %".147" = select  i1 %".145", i64 %".146", i64 0
  %".148" = sub i64 6, %".116"
  %".149" = icmp slt i64 %".148", 6
  %".150" = select  i1 %".149", i64 %".148", i64 6
  %".151" = icmp slt i64 %".117", 0
  %".152" = sub i64 0, %".117"
  %".153" = select  i1 %".151", i64 %".152", i64 0
  %".154" = sub i64 16, %".117"
  %".155" = icmp slt i64 %".154", 16
  %".156" = select  i1 %".155", i64 %".154", i64 16
  br label %"loop.4"
loop.4:
  %"i.4" = phi  i64 [%".147", %"done.3"], [%".188", %"done.5"]
  %".158" = icmp slt i64 %"i.4", %".150"
  br i1 %".158", label %"body.4", label %"done.4"
body.4:
  br label %"loop.5"
done.4:
  br label %"end.1"
loop.5:
  %"i.5" = phi  i64 [%".153", %"body.4"], [%".186", %"body.5"]
  %".161" = icmp slt i64 %"i.5", %".156"
  br i1 %".161", label %"body.5", label %"done.5"
body.5:
  %".163" = add i64 %".116", %"i.4"
  %".164" = add i64 %".117", %"i.5"
  %".165" = mul i64 %".163", 16
  %".166" = add i64 %".165", %".164"
  %".167" = getelementptr inbounds i16, ptr %".21", i64 %".166"
  %".168" = load i16, ptr %".167", align 2
  %".169" = zext i16 %".168" to i32
  %".170" = shl i32 %".169", 16
  %".171" = bitcast i32 %".170" to float
  %".172" = mul i64 %"i.4", 16
  %".173" = add i64 %".172", %"i.5"
  %".174" = getelementptr inbounds i16, ptr %".124", i64 %".173"
  %".175" = bitcast float %".171" to i32
  %".176" = lshr i32 %".175", 16
  %".177" = and i32 %".176", 1
  %".178" = add i32 %".177", 32767
  %".179" = add i32 %".175", %".178"
  %".180" = fcmp uno float %".171", %".171"
  %".181" = or i32 %".175", 4194304
  %".182" = select  i1 %".180", i32 %".181", i32 %".179"
  %".183" = lshr i32 %".182", 16
  %".184" = trunc i32 %".183" to i16
  store i16 %".184", ptr %".174", align 2
  %".186" = add i64 %"i.5", 1
  br label %"loop.5"
done.5:
  %".188" = add i64 %"i.4", 1
  br label %"loop.4"
then.2:
  br label %"loop.6"
end.2:
  %".272" = select  i1 %".201", ptr %".204", ptr %".205"
  %".273" = getelementptr i8, ptr %".3", i64 384
  %".274" = getelementptr i8, ptr %".3", i64 896
  %".275" = getelementptr i8, ptr %".3", i64 1024
  br label %"loop.9"
loop.6:
  %"i.6" = phi  i64 [0, %"then.2"], [%".224", %"body.6"]
  %".209" = icmp slt i64 %"i.6", 4
  br i1 %".209", label %"body.6", label %"done.6"
body.6:
  %".211" = mul i64 %"i.6", 16
  %".212" = getelementptr inbounds i16, ptr %".205", i64 %".211"
  %".213" = bitcast <16 x float> <float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000> to <16 x i32>
  %".214" = lshr <16 x i32> %".213", <i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16>
  %".215" = and <16 x i32> %".214", <i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1>
  %".216" = add <16 x i32> %".215", <i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767>
  %".217" = add <16 x i32> %".213", %".216"
  %".218" = fcmp uno <16 x float> <float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000>, <float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000>
  %".219" = or <16 x i32> %".213", <i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304>
  %".220" = select  <16 x i1> %".218", <16 x i32> %".219", <16 x i32> %".217"
  %".221" = lshr <16 x i32> %".220", <i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16>
  %".222" = trunc <16 x i32> %".221" to <16 x i16>
  store <16 x i16> %".222", ptr %".212", align 2
  %".224" = add i64 %"i.6", 1
  br label %"loop.6"
done.6:
  %".226" = icmp slt i64 %".197", 0
  %".227" = sub i64 0, %".197"
  %".228" = select  i1 %".226", i64 %".227", i64 0
  %".229" = sub i64 4, %".197"
  %".230" = icmp slt i64 %".229", 4
  %".231" = select  i1 %".230", i64 %".229", i64 4
  %".232" = icmp slt i64 %".198", 0
  %".233" = sub i64 0, %".198"
  %".234" = select  i1 %".232", i64 %".233", i64 0
  %".235" = sub i64 16, %".198"
  %".236" = icmp slt i64 %".235", 16
  %".237" = select  i1 %".236", i64 %".235", i64 16
  br label %"loop.7"
loop.7:
  %"i.7" = phi  i64 [%".228", %"done.6"], [%".269", %"done.8"]
  %".239" = icmp slt i64 %"i.7", %".231"
  br i1 %".239", label %"body.7", label %"done.7"
body.7:
  br label %"loop.8"
done.7:
  br label %"end.2"
loop.8:
  %"i.8" = phi  i64 [%".234", %"body.7"], [%".267", %"body.8"]
  %".242" = icmp slt i64 %"i.8", %".237"
  br i1 %".242", label %"body.8", label %"done.8"
body.8:
  %".244" = add i64 %".197", %"i.7"
  %".245" = add i64 %".198", %"i.8"
  %".246" = mul i64 %".244", 16
  %".247" = add i64 %".246", %".245"
  %".248" = getelementptr inbounds i16, ptr %".23", i64 %".247"
  %".249" = load i16, ptr %".248", align 2
  %".250" = zext i16 %".249" to i32
  %".251" = shl i32 %".250", 16
  %".252" = bitcast i32 %".251" to float
  %".253" = mul i64 %"i.7", 16
  %".254" = add i64 %".253", %"i.8"
  %".255" = getelementptr inbounds i16, ptr %".205", i64 %".254"
  %".256" = bitcast float %".252" to i32
  %".257" = lshr i32 %".256", 16
  %".258" = and i32 %".257", 1
  %".259" = add i32 %".258", 32767
  %".260" = add i32 %".256", %".259"
  %".261" = fcmp uno float %".252", %".252"
  %".262" = or i32 %".256", 4194304
  %".263" = select  i1 %".261", i32 %".262", i32 %".260"
  %".264" = lshr i32 %".263", 16
  %".265" = trunc i32 %".264" to i16
  store i16 %".265", ptr %".255", align 2
  %".267" = add i64 %"i.8", 1
  br label %"loop.8"
done.8:
  %".269" = add i64 %"i.7", 1
  br label %"loop.7"
loop.9:
  %"i.9" = phi  i64 [0, %"end.2"], [%".426", %"body.9"]
  %".277" = icmp slt i64 %"i.9", 4
  br i1 %".277", label %"body.9", label %"done.9"
body.9:
  %".279" = mul i64 %"i.9", 3
  %".280" = getelementptr inbounds i32, ptr %".274", i64 %".279"
  %".281" = mul i64 %"i.9", 6
  %".282" = getelementptr inbounds i16, ptr %".110", i64 %".281"
  %".283" = load <6 x i16>, ptr %".282", align 2
  %".284" = zext <6 x i16> %".283" to <6 x i32>
  %".285" = shl <6 x i32> %".284", <i32 16, i32 16, i32 16, i32 16, i32 16, i32 16>
  %".286" = bitcast <6 x i32> %".285" to <6 x float>
  %".287" = bitcast <6 x float> %".286" to <6 x i32>
  %".288" = lshr <6 x i32> %".287", <i32 16, i32 16, i32 16, i32 16, i32 16, i32 16>
  %".289" = and <6 x i32> %".288", <i32 1, i32 1, i32 1, i32 1, i32 1, i32 1>
  %".290" = add <6 x i32> %".289", <i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767>
  %".291" = add <6 x i32> %".287", %".290"
  %".292" = fcmp uno <6 x float> %".286", %".286"
  %".293" = or <6 x i32> %".287", <i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304>
  %".294" = select  <6 x i1> %".292", <6 x i32> %".293", <6 x i32> %".291"
  %".295" = lshr <6 x i32> %".294", <i32 16, i32 16, i32 16, i32 16, i32 16, i32 16>
  %".296" = trunc <6 x i32> %".295" to <6 x i16>
  %".297" = shufflevector <6 x i16> %".296", <6 x i16> <i16 0, i16 0, i16 0, i16 0, i16 0, i16 0>, <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6>
  %".298" = bitcast <32 x i16> %".297" to <16 x i32>
  %".299" = add i64 %"i.9", 1
  %".300" = mul i64 %".299", 6
  %".301" = getelementptr inbounds i16, ptr %".110", i64 %".300"
  %".302" = load <6 x i16>, ptr %".301", align 2
  %".303" = zext <6 x i16> %".302" to <6 x i32>
  %".304" = shl <6 x i32> %".303", <i32 16, i32 16, i32 16, i32 16, i32 16, i32 16>
  %".305" = bitcast <6 x i32> %".304" to <6 x float>
  %".306" = bitcast <6 x float> %".305" to <6 x i32>
  %".307" = lshr <6 x i32> %".306", <i32 16, i32 16, i32 16, i32 16, i32 16, i32 16>
  %".308" = and <6 x i32> %".307", <i32 1, i32 1, i32 1, i32 1, i32 1, i32 1>
  %".309" = add <6 x i32> %".308", <i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767>
  %".310" = add <6 x i32> %".306", %".309"
  %".311" = fcmp uno <6 x float> %".305", %".305"
  %".312" = or <6 x i32> %".306", <i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304>
  %".313" = select  <6 x i1> %".311", <6 x i32> %".312", <6 x i32> %".310"
  %".314" = lshr <6 x i32> %".313", <i32 16, i32 16, i32 16, i32 16, i32 16, i32 16>
  %".315" = trunc <6 x i32> %".314" to <6 x i16>
  %".316" = shufflevector <6 x i16> %".315", <6 x i16> <i16 0, i16 0, i16 0, i16 0, i16 0, i16 0>, <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6>
  %".317" = bitcast <32 x i16> %".316" to <16 x i32>
  %".318" = add i64 %"i.9", 2
  %".319" = mul i64 %".318", 6
  %".320" = getelementptr inbounds i16, ptr %".110", i64 %".319"
  %".321" = load <6 x i16>, ptr %".320", align 2
  %".322" = zext <6 x i16> %".321" to <6 x i32>
  %".323" = shl <6 x i32> %".322", <i32 16, i32 16, i32 16, i32 16, i32 16, i32 16>
  %".324" = bitcast <6 x i32> %".323" to <6 x float>
  %".325" = bitcast <6 x float> %".324" to <6 x i32>
  %".326" = lshr <6 x i32> %".325", <i32 16, i32 16, i32 16, i32 16, i32 16, i32 16>
  %".327" = and <6 x i32> %".326", <i32 1, i32 1, i32 1, i32 1, i32 1, i32 1>
  %".328" = add <6 x i32> %".327", <i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767>
  %".329" = add <6 x i32> %".325", %".328"
  %".330" = fcmp uno <6 x float> %".324", %".324"
  %".331" = or <6 x i32> %".325", <i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304>
  %".332" = select  <6 x i1> %".330", <6 x i32> %".331", <6 x i32> %".329"
  %".333" = lshr <6 x i32> %".332", <i32 16, i32 16, i32 16, i32 16, i32 16, i32 16>
  %".334" = trunc <6 x i32> %".333" to <6 x i16>
  %".335" = shufflevector <6 x i16> %".334", <6 x i16> <i16 0, i16 0, i16 0, i16 0, i16 0, i16 0>, <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6>
  %".336" = bitcast <32 x i16> %".335" to <16 x i32>
  %".337" = add i64 %"i.9", 3
  %".338" = mul i64 %".337", 6
  %".339" = getelementptr inbounds i16, ptr %".110", i64 %".338"
  %".340" = load <6 x i16>, ptr %".339", align 2
  %".341" = zext <6 x i16> %".340" to <6 x i32>
  %".342" = shl <6 x i32> %".341", <i32 16, i32 16, i32 16, i32 16, i32 16, i32 16>
  %".343" = bitcast <6 x i32> %".342" to <6 x float>
  %".344" = bitcast <6 x float> %".343" to <6 x i32>
  %".345" = lshr <6 x i32> %".344", <i32 16, i32 16, i32 16, i32 16, i32 16, i32 16>
  %".346" = and <6 x i32> %".345", <i32 1, i32 1, i32 1, i32 1, i32 1, i32 1>
  %".347" = add <6 x i32> %".346", <i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767>
  %".348" = add <6 x i32> %".344", %".347"
  %".349" = fcmp uno <6 x float> %".343", %".343"
  %".350" = or <6 x i32> %".344", <i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304>
  %".351" = select  <6 x i1> %".349", <6 x i32> %".350", <6 x i32> %".348"
  %".352" = lshr <6 x i32> %".351", <i32 16, i32 16, i32 16, i32 16, i32 16, i32 16>
  %".353" = trunc <6 x i32> %".352" to <6 x i16>
  %".354" = shufflevector <6 x i16> %".353", <6 x i16> <i16 0, i16 0, i16 0, i16 0, i16 0, i16 0>, <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6>
  %".355" = bitcast <32 x i16> %".354" to <16 x i32>
  %".356" = shufflevector <16 x i32> %".298", <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23>
  %".357" = shufflevector <16 x i32> %".298", <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %".358" = shufflevector <16 x i32> %".317", <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23>
  %".359" = shufflevector <16 x i32> %".317", <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %".360" = shufflevector <16 x i32> %".336", <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23>
  %".361" = shufflevector <16 x i32> %".336", <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %".362" = shufflevector <16 x i32> %".355", <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23>
  %".363" = shufflevector <16 x i32> %".355", <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %".364" = shufflevector <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23>
  %".365" = shufflevector <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %".366" = shufflevector <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23>
  %".367" = shufflevector <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %".368" = shufflevector <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23>
  %".369" = shufflevector <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %".370" = shufflevector <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23>
  %".371" = shufflevector <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %".372" = shufflevector <16 x i32> %".356", <16 x i32> %".364", <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 16, i32 17, i32 18, i32 19, i32 8, i32 9, i32 10, i32 11, i32 24, i32 25, i32 26, i32 27>
  %".373" = shufflevector <16 x i32> %".356", <16 x i32> %".364", <16 x i32> <i32 4, i32 5, i32 6, i32 7, i32 20, i32 21, i32 22, i32 23, i32 12, i32 13, i32 14, i32 15, i32 28, i32 29, i32 30, i32 31>
  %".374" = shufflevector <16 x i32> %".358", <16 x i32> %".366", <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 16, i32 17, i32 18, i32 19, i32 8, i32 9, i32 10, i32 11, i32 24, i32 25, i32 26, i32 27>
  %".375" = shufflevector <16 x i32> %".358", <16 x i32> %".366", <16 x i32> <i32 4, i32 5, i32 6, i32 7, i32 20, i32 21, i32 22, i32 23, i32 12, i32 13, i32 14, i32 15, i32 28, i32 29, i32 30, i32 31>
  %".376" = shufflevector <16 x i32> %".360", <16 x i32> %".368", <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 16, i32 17, i32 18, i32 19, i32 8, i32 9, i32 10, i32 11, i32 24, i32 25, i32 26, i32 27>
  %".377" = shufflevector <16 x i32> %".360", <16 x i32> %".368", <16 x i32> <i32 4, i32 5, i32 6, i32 7, i32 20, i32 21, i32 22, i32 23, i32 12, i32 13, i32 14, i32 15, i32 28, i32 29, i32 30, i32 31>
  %".378" = shufflevector <16 x i32> %".362", <16 x i32> %".370", <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 16, i32 17, i32 18, i32 19, i32 8, i32 9, i32 10, i32 11, i32 24, i32 25, i32 26, i32 27>
  %".379" = shufflevector <16 x i32> %".362", <16 x i32> %".370", <16 x i32> <i32 4, i32 5, i32 6, i32 7, i32 20, i32 21, i32 22, i32 23, i32 12, i32 13, i32 14, i32 15, i32 28, i32 29, i32 30, i32 31>
  %".380" = shufflevector <16 x i32> %".357", <16 x i32> %".365", <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 16, i32 17, i32 18, i32 19, i32 8, i32 9, i32 10, i32 11, i32 24, i32 25, i32 26, i32 27>
  %".381" = shufflevector <16 x i32> %".357", <16 x i32> %".365", <16 x i32> <i32 4, i32 5, i32 6, i32 7, i32 20, i32 21, i32 22, i32 23, i32 12, i32 13, i32 14, i32 15, i32 28, i32 29, i32 30, i32 31>
  %".382" = shufflevector <16 x i32> %".359", <16 x i32> %".367", <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 16, i32 17, i32 18, i32 19, i32 8, i32 9, i32 10, i32 11, i32 24, i32 25, i32 26, i32 27>
  %".383" = shufflevector <16 x i32> %".359", <16 x i32> %".367", <16 x i32> <i32 4, i32 5, i32 6, i32 7, i32 20, i32 21, i32 22, i32 23, i32 12, i32 13, i32 14, i32 15, i32 28, i32 29, i32 30, i32 31>
  %".384" = shufflevector <16 x i32> %".361", <16 x i32> %".369", <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 16, i32 17, i32 18, i32 19, i32 8, i32 9, i32 10, i32 11, i32 24, i32 25, i32 26, i32 27>
  %".385" = shufflevector <16 x i32> %".361", <16 x i32> %".369", <16 x i32> <i32 4, i32 5, i32 6, i32 7, i32 20, i32 21, i32 22, i32 23, i32 12, i32 13, i32 14, i32 15, i32 28, i32 29, i32 30, i32 31>
  %".386" = shufflevector <16 x i32> %".363", <16 x i32> %".371", <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 16, i32 17, i32 18, i32 19, i32 8, i32 9, i32 10, i32 11, i32 24, i32 25, i32 26, i32 27>
  %".387" = shufflevector <16 x i32> %".363", <16 x i32> %".371", <16 x i32> <i32 4, i32 5, i32 6, i32 7, i32 20, i32 21, i32 22, i32 23, i32 12, i32 13, i32 14, i32 15, i32 28, i32 29, i32 30, i32 31>
  %".388" = shufflevector <16 x i32> %".372", <16 x i32> %".376", <16 x i32> <i32 0, i32 1, i32 16, i32 17, i32 4, i32 5, i32 20, i32 21, i32 8, i32 9, i32 24, i32 25, i32 12, i32 13, i32 28, i32 29>
  %".389" = shufflevector <16 x i32> %".372", <16 x i32> %".376", <16 x i32> <i32 2, i32 3, i32 18, i32 19, i32 6, i32 7, i32 22, i32 23, i32 10, i32 11, i32 26, i32 27, i32 14, i32 15, i32 30, i32 31>
  %".390" = shufflevector <16 x i32> %".374", <16 x i32> %".378", <16 x i32> <i32 0, i32 1, i32 16, i32 17, i32 4, i32 5, i32 20, i32 21, i32 8, i32 9, i32 24, i32 25, i32 12, i32 13, i32 28, i32 29>
  %".391" = shufflevector <16 x i32> %".374", <16 x i32> %".378", <16 x i32> <i32 2, i32 3, i32 18, i32 19, i32 6, i32 7, i32 22, i32 23, i32 10, i32 11, i32 26, i32 27, i32 14, i32 15, i32 30, i32 31>
  %".392" = shufflevector <16 x i32> %".373", <16 x i32> %".377", <16 x i32> <i32 0, i32 1, i32 16, i32 17, i32 4, i32 5, i32 20, i32 21, i32 8, i32 9, i32 24, i32 25, i32 12, i32 13, i32 28, i32 29>
  %".393" = shufflevector <16 x i32> %".373", <16 x i32> %".377", <16 x i32> <i32 2, i32 3, i32 18, i32 19, i32 6, i32 7, i32 22, i32 23, i32 10, i32 11, i32 26, i32 27, i32 14, i32 15, i32 30, i32 31>
  %".394" = shufflevector <16 x i32> %".375", <16 x i32> %".379", <16 x i32> <i32 0, i32 1, i32 16, i32 17, i32 4, i32 5, i32 20, i32 21, i32 8, i32 9, i32 24, i32 25, i32 12, i32 13, i32 28, i32 29>
  %".395" = shufflevector <16 x i32> %".375", <16 x i32> %".379", <16 x i32> <i32 2, i32 3, i32 18, i32 19, i32 6, i32 7, i32 22, i32 23, i32 10, i32 11, i32 26, i32 27, i32 14, i32 15, i32 30, i32 31>
  %".396" = shufflevector <16 x i32> %".380", <16 x i32> %".384", <16 x i32> <i32 0, i32 1, i32 16, i32 17, i32 4, i32 5, i32 20, i32 21, i32 8, i32 9, i32 24, i32 25, i32 12, i32 13, i32 28, i32 29>
  %".397" = shufflevector <16 x i32> %".380", <16 x i32> %".384", <16 x i32> <i32 2, i32 3, i32 18, i32 19, i32 6, i32 7, i32 22, i32 23, i32 10, i32 11, i32 26, i32 27, i32 14, i32 15, i32 30, i32 31>
  %".398" = shufflevector <16 x i32> %".382", <16 x i32> %".386", <16 x i32> <i32 0, i32 1, i32 16, i32 17, i32 4, i32 5, i32 20, i32 21, i32 8, i32 9, i32 24, i32 25, i32 12, i32 13, i32 28, i32 29>
  %".399" = shufflevector <16 x i32> %".382", <16 x i32> %".386", <16 x i32> <i32 2, i32 3, i32 18, i32 19, i32 6, i32 7, i32 22, i32 23, i32 10, i32 11, i32 26, i32 27, i32 14, i32 15, i32 30, i32 31>
  %".400" = shufflevector <16 x i32> %".381", <16 x i32> %".385", <16 x i32> <i32 0, i32 1, i32 16, i32 17, i32 4, i32 5, i32 20, i32 21, i32 8, i32 9, i32 24, i32 25, i32 12, i32 13, i32 28, i32 29>
  %".401" = shufflevector <16 x i32> %".381", <16 x i32> %".385", <16 x i32> <i32 2, i32 3, i32 18, i32 19, i32 6, i32 7, i32 22, i32 23, i32 10, i32 11, i32 26, i32 27, i32 14, i32 15, i32 30, i32 31>
  %".402" = shufflevector <16 x i32> %".383", <16 x i32> %".387", <16 x i32> <i32 0, i32 1, i32 16, i32 17, i32 4, i32 5, i32 20, i32 21, i32 8, i32 9, i32 24, i32 25, i32 12, i32 13, i32 28, i32 29>
  %".403" = shufflevector <16 x i32> %".383", <16 x i32> %".387", <16 x i32> <i32 2, i32 3, i32 18, i32 19, i32 6, i32 7, i32 22, i32 23, i32 10, i32 11, i32 26, i32 27, i32 14, i32 15, i32 30, i32 31>
  %".404" = shufflevector <16 x i32> %".388", <16 x i32> %".390", <16 x i32> <i32 0, i32 16, i32 2, i32 18, i32 4, i32 20, i32 6, i32 22, i32 8, i32 24, i32 10, i32 26, i32 12, i32 28, i32 14, i32 30>
  %".405" = shufflevector <16 x i32> %".388", <16 x i32> %".390", <16 x i32> <i32 1, i32 17, i32 3, i32 19, i32 5, i32 21, i32 7, i32 23, i32 9, i32 25, i32 11, i32 27, i32 13, i32 29, i32 15, i32 31>
  %".406" = shufflevector <16 x i32> %".389", <16 x i32> %".391", <16 x i32> <i32 0, i32 16, i32 2, i32 18, i32 4, i32 20, i32 6, i32 22, i32 8, i32 24, i32 10, i32 26, i32 12, i32 28, i32 14, i32 30>
  %".407" = shufflevector <16 x i32> %".389", <16 x i32> %".391", <16 x i32> <i32 1, i32 17, i32 3, i32 19, i32 5, i32 21, i32 7, i32 23, i32 9, i32 25, i32 11, i32 27, i32 13, i32 29, i32 15, i32 31>
  %".408" = shufflevector <16 x i32> %".392", <16 x i32> %".394", <16 x i32> <i32 0, i32 16, i32 2, i32 18, i32 4, i32 20, i32 6, i32 22, i32 8, i32 24, i32 10, i32 26, i32 12, i32 28, i32 14, i32 30>
  %".409" = shufflevector <16 x i32> %".392", <16 x i32> %".394", <16 x i32> <i32 1, i32 17, i32 3, i32 19, i32 5, i32 21, i32 7, i32 23, i32 9, i32 25, i32 11, i32 27, i32 13, i32 29, i32 15, i32 31>
  %".410" = shufflevector <16 x i32> %".393", <16 x i32> %".395", <16 x i32> <i32 0, i32 16, i32 2, i32 18, i32 4, i32 20, i32 6, i32 22, i32 8, i32 24, i32 10, i32 26, i32 12, i32 28, i32 14, i32 30>
  %".411" = shufflevector <16 x i32> %".393", <16 x i32> %".395", <16 x i32> <i32 1, i32 17, i32 3, i32 19, i32 5, i32 21, i32 7, i32 23, i32 9, i32 25, i32 11, i32 27, i32 13, i32 29, i32 15, i32 31>
  %".412" = shufflevector <16 x i32> %".396", <16 x i32> %".398", <16 x i32> <i32 0, i32 16, i32 2, i32 18, i32 4, i32 20, i32 6, i32 22, i32 8, i32 24, i32 10, i32 26, i32 12, i32 28, i32 14, i32 30>
  %".413" = shufflevector <16 x i32> %".396", <16 x i32> %".398", <16 x i32> <i32 1, i32 17, i32 3, i32 19, i32 5, i32 21, i32 7, i32 23, i32 9, i32 25, i32 11, i32 27, i32 13, i32 29, i32 15, i32 31>
  %".414" = shufflevector <16 x i32> %".397", <16 x i32> %".399", <16 x i32> <i32 0, i32 16, i32 2, i32 18, i32 4, i32 20, i32 6, i32 22, i32 8, i32 24, i32 10, i32 26, i32 12, i32 28, i32 14, i32 30>
  %".415" = shufflevector <16 x i32> %".397", <16 x i32> %".399", <16 x i32> <i32 1, i32 17, i32 3, i32 19, i32 5, i32 21, i32 7, i32 23, i32 9, i32 25, i32 11, i32 27, i32 13, i32 29, i32 15, i32 31>
  %".416" = shufflevector <16 x i32> %".400", <16 x i32> %".402", <16 x i32> <i32 0, i32 16, i32 2, i32 18, i32 4, i32 20, i32 6, i32 22, i32 8, i32 24, i32 10, i32 26, i32 12, i32 28, i32 14, i32 30>
  %".417" = shufflevector <16 x i32> %".400", <16 x i32> %".402", <16 x i32> <i32 1, i32 17, i32 3, i32 19, i32 5, i32 21, i32 7, i32 23, i32 9, i32 25, i32 11, i32 27, i32 13, i32 29, i32 15, i32 31>
  %".418" = shufflevector <16 x i32> %".401", <16 x i32> %".403", <16 x i32> <i32 0, i32 16, i32 2, i32 18, i32 4, i32 20, i32 6, i32 22, i32 8, i32 24, i32 10, i32 26, i32 12, i32 28, i32 14, i32 30>
  %".419" = shufflevector <16 x i32> %".401", <16 x i32> %".403", <16 x i32> <i32 1, i32 17, i32 3, i32 19, i32 5, i32 21, i32 7, i32 23, i32 9, i32 25, i32 11, i32 27, i32 13, i32 29, i32 15, i32 31>
  %".420" = getelementptr inbounds i32, ptr %".280", i64 0
  store <16 x i32> %".404", ptr %".420", align 4
  %".422" = getelementptr inbounds i32, ptr %".280", i64 4
  store <16 x i32> %".405", ptr %".422", align 4
  %".424" = getelementptr inbounds i32, ptr %".280", i64 8
  store <16 x i32> %".406", ptr %".424", align 4
  %".426" = add i64 %"i.9", 4
  br label %"loop.9"
done.9:
  br label %"loop.10"
loop.10:
  %"i.10" = phi  i64 [0, %"done.9"], [%".583", %"done.12"]
  %".429" = icmp slt i64 %"i.10", 16
  br i1 %".429", label %"body.10", label %"done.10"
body.10:
  br label %"loop.11"
done.10:
  br i1 %".206", label %"then.3", label %"end.3"
loop.11:
  %"i.11" = phi  i64 [0, %"body.10"], [%".478", %"body.11"]
  %".432" = icmp slt i64 %"i.11", 3
  br i1 %".432", label %"body.11", label %"done.11"
body.11:
  %".434" = mul i64 %"i.11", 2
  %".435" = mul i64 %".434", 16
  %".436" = add i64 %".435", %"i.10"
  %".437" = getelementptr inbounds i16, ptr %".191", i64 %".436"
  %".438" = load <16 x i16>, ptr %".437", align 2
  %".439" = zext <16 x i16> %".438" to <16 x i32>
  %".440" = shl <16 x i32> %".439", <i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16>
  %".441" = bitcast <16 x i32> %".440" to <16 x float>
  %".442" = bitcast <16 x float> %".441" to <16 x i32>
  %".443" = lshr <16 x i32> %".442", <i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16>
  %".444" = and <16 x i32> %".443", <i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1>
  %".445" = add <16 x i32> %".444", <i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767>
  %".446" = add <16 x i32> %".442", %".445"
  %".447" = fcmp uno <16 x float> %".441", %".441"
  %".448" = or <16 x i32> %".442", <i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304>
  %".449" = select  <16 x i1> %".447", <16 x i32> %".448", <16 x i32> %".446"
  %".450" = lshr <16 x i32> %".449", <i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16>
  %".451" = trunc <16 x i32> %".450" to <16 x i16>
  %".452" = mul i64 %"i.11", 2
  %".453" = add i64 %".452", 1
  %".454" = mul i64 %".453", 16
  %".455" = add i64 %".454", %"i.10"
  %".456" = getelementptr inbounds i16, ptr %".191", i64 %".455"
  %".457" = load <16 x i16>, ptr %".456", align 2
  %".458" = zext <16 x i16> %".457" to <16 x i32>
  %".459" = shl <16 x i32> %".458", <i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16>
  %".460" = bitcast <16 x i32> %".459" to <16 x float>
  %".461" = bitcast <16 x float> %".460" to <16 x i32>
  %".462" = lshr <16 x i32> %".461", <i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16>
  %".463" = and <16 x i32> %".462", <i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1>
  %".464" = add <16 x i32> %".463", <i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767>
  %".465" = add <16 x i32> %".461", %".464"
  %".466" = fcmp uno <16 x float> %".460", %".460"
  %".467" = or <16 x i32> %".461", <i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304>
  %".468" = select  <16 x i1> %".466", <16 x i32> %".467", <16 x i32> %".465"
  %".469" = lshr <16 x i32> %".468", <i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16>
  %".470" = trunc <16 x i32> %".469" to <16 x i16>
  %".471" = zext <16 x i16> %".451" to <16 x i32>
  %".472" = zext <16 x i16> %".470" to <16 x i32>
  %".473" = shl <16 x i32> %".472", <i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16>
  %".474" = or <16 x i32> %".471", %".473"
  %".475" = mul i64 %"i.11", 32
  %".476" = getelementptr inbounds i32, ptr %".275", i64 %".475"
  store <16 x i32> %".474", ptr %".476", align 4
  %".478" = add i64 %"i.11", 1
  br label %"loop.11"
done.11:
  br label %"loop.12"
loop.12:
  %"i.12" = phi  i64 [0, %"done.11"], [%".581", %"done.13"]
  %".481" = icmp slt i64 %"i.12", 4
  br i1 %".481", label %"body.12", label %"done.12"
body.12:
  br label %"k"
done.12:
  %".583" = add i64 %"i.10", 16
  br label %"loop.10"
k:
  %".484" = phi  i64 [0, %"body.12"], [%".537", %"k.body"]
  %".485" = phi  <16 x float> [<float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, %"body.12"], [%".503", %"k.body"]
  %".486" = phi  <16 x float> [<float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, %"body.12"], [%".514", %"k.body"]
  %".487" = phi  <16 x float> [<float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, %"body.12"], [%".525", %"k.body"]
  %".488" = phi  <16 x float> [<float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, %"body.12"], [%".536", %"k.body"]
  %".489" = icmp slt i64 %".484", 3
  br i1 %".489", label %"k.body", label %"k.done"
k.body:
  %".491" = mul i64 %".484", 32
  %".492" = getelementptr inbounds i32, ptr %".275", i64 %".491"
  %".493" = load <16 x i32>, ptr %".492", align 4
  %".494" = mul i64 %"i.12", 3
  %".495" = getelementptr inbounds i32, ptr %".274", i64 %".494"
  %".496" = mul i64 %".484", 4
  %".497" = getelementptr inbounds i32, ptr %".495", i64 %".496"
  %".498" = load i32, ptr %".497", align 4
  %".499" = insertelement <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, i32 %".498", i32 0
  %".500" = shufflevector <16 x i32> %".499", <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".501" = bitcast <16 x i32> %".500" to <32 x bfloat>
  %".502" = bitcast <16 x i32> %".493" to <32 x bfloat>
  %".503" = call <16 x float> @"llvm.x86.avx512bf16.dpbf16ps.512"(<16 x float> %".485", <32 x bfloat> %".501", <32 x bfloat> %".502")
  %".504" = mul i64 %"i.12", 3
  %".505" = getelementptr inbounds i32, ptr %".274", i64 %".504"
  %".506" = mul i64 %".484", 4
  %".507" = add i64 %".506", 1
  %".508" = getelementptr inbounds i32, ptr %".505", i64 %".507"
  %".509" = load i32, ptr %".508", align 4
  %".510" = insertelement <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, i32 %".509", i32 0
  %".511" = shufflevector <16 x i32> %".510", <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".512" = bitcast <16 x i32> %".511" to <32 x bfloat>
  %".513" = bitcast <16 x i32> %".493" to <32 x bfloat>
  %".514" = call <16 x float> @"llvm.x86.avx512bf16.dpbf16ps.512"(<16 x float> %".486", <32 x bfloat> %".512", <32 x bfloat> %".513")
  %".515" = mul i64 %"i.12", 3
  %".516" = getelementptr inbounds i32, ptr %".274", i64 %".515"
  %".517" = mul i64 %".484", 4
  %".518" = add i64 %".517", 2
  %".519" = getelementptr inbounds i32, ptr %".516", i64 %".518"
  %".520" = load i32, ptr %".519", align 4
  %".521" = insertelement <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, i32 %".520", i32 0
  %".522" = shufflevector <16 x i32> %".521", <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".523" = bitcast <16 x i32> %".522" to <32 x bfloat>
  %".524" = bitcast <16 x i32> %".493" to <32 x bfloat>
  %".525" = call <16 x float> @"llvm.x86.avx512bf16.dpbf16ps.512"(<16 x float> %".487", <32 x bfloat> %".523", <32 x bfloat> %".524")
  %".526" = mul i64 %"i.12", 3
  %".527" = getelementptr inbounds i32, ptr %".274", i64 %".526"
  %".528" = mul i64 %".484", 4
  %".529" = add i64 %".528", 3
  %".530" = getelementptr inbounds i32, ptr %".527", i64 %".529"
  %".531" = load i32, ptr %".530", align 4
  %".532" = insertelement <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, i32 %".531", i32 0
  %".533" = shufflevector <16 x i32> %".532", <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".534" = bitcast <16 x i32> %".533" to <32 x bfloat>
  %".535" = bitcast <16 x i32> %".493" to <32 x bfloat>
  %".536" = call <16 x float> @"llvm.x86.avx512bf16.dpbf16ps.512"(<16 x float> %".488", <32 x bfloat> %".534", <32 x bfloat> %".535")
  %".537" = add i64 %".484", 1
  br label %"k"
k.done:
  %".539" = getelementptr inbounds float, ptr %".273", i64 0
  store <16 x float> %".485", ptr %".539", align 4
  %".541" = getelementptr inbounds float, ptr %".273", i64 32
  store <16 x float> %".486", ptr %".541", align 4
  %".543" = getelementptr inbounds float, ptr %".273", i64 64
  store <16 x float> %".487", ptr %".543", align 4
  %".545" = getelementptr inbounds float, ptr %".273", i64 96
  store <16 x float> %".488", ptr %".545", align 4
  br label %"loop.13"
loop.13:
  %"i.13" = phi  i64 [0, %"k.done"], [%".579", %"body.13"]
  %".548" = icmp slt i64 %"i.13", 4
  br i1 %".548", label %"body.13", label %"done.13"
body.13:
  %".550" = add i64 %"i.13", %"i.12"
  %".551" = sub i64 %".550", %"i.12"
  %".552" = mul i64 %".551", 32
  %".553" = getelementptr inbounds float, ptr %".273", i64 %".552"
  %".554" = load <16 x float>, ptr %".553", align 4
  %".555" = bitcast <16 x float> %".554" to <16 x i32>
  %".556" = lshr <16 x i32> %".555", <i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16>
  %".557" = and <16 x i32> %".556", <i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1>
  %".558" = add <16 x i32> %".557", <i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767>
  %".559" = add <16 x i32> %".555", %".558"
  %".560" = fcmp uno <16 x float> %".554", %".554"
  %".561" = or <16 x i32> %".555", <i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304>
  %".562" = select  <16 x i1> %".560", <16 x i32> %".561", <16 x i32> %".559"
  %".563" = and <16 x i32> %".562", <i32 4294901760, i32 4294901760, i32 4294901760, i32 4294901760, i32 4294901760, i32 4294901760, i32 4294901760, i32 4294901760, i32 4294901760, i32 4294901760, i32 4294901760, i32 4294901760, i32 4294901760, i32 4294901760, i32 4294901760, i32 4294901760>
  %".564" = bitcast <16 x i32> %".563" to <16 x float>
  %".565" = mul i64 %".550", 16
  %".566" = add i64 %".565", %"i.10"
  %".567" = getelementptr inbounds i16, ptr %".272", i64 %".566"
  %".568" = bitcast <16 x float> %".564" to <16 x i32>
  %".569" = lshr <16 x i32> %".568", <i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16>
  %".570" = and <16 x i32> %".569", <i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1>
  %".571" = add <16 x i32> %".570", <i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767>
  %".572" = add <16 x i32> %".568", %".571"
  %".573" = fcmp uno <16 x float> %".564", %".564"
  %".574" = or <16 x i32> %".568", <i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304>
  %".575" = select  <16 x i1> %".573", <16 x i32> %".574", <16 x i32> %".572"
  %".576" = lshr <16 x i32> %".575", <i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16>
  %".577" = trunc <16 x i32> %".576" to <16 x i16>
  store <16 x i16> %".577", ptr %".567", align 2
  %".579" = add i64 %"i.13", 1
  br label %"loop.13"
done.13:
  %".581" = add i64 %"i.12", 4
  br label %"loop.12"
then.3:
  %".586" = icmp slt i64 %".197", 0
  %".587" = sub i64 0, %".197"
  %".588" = select  i1 %".586", i64 %".587", i64 0
  %".589" = sub i64 4, %".197"
  %".590" = icmp slt i64 %".589", 4
  %".591" = select  i1 %".590", i64 %".589", i64 4
  %".592" = icmp slt i64 %".198", 0
  %".593" = sub i64 0, %".198"
  %".594" = select  i1 %".592", i64 %".593", i64 0
  %".595" = sub i64 16, %".198"
  %".596" = icmp slt i64 %".595", 16
  %".597" = select  i1 %".596", i64 %".595", i64 16
  br label %"loop.14"
end.3:
  ret void
loop.14:
  %"i.14" = phi  i64 [%".588", %"then.3"], [%".629", %"done.15"]
  %".599" = icmp slt i64 %"i.14", %".591"
  br i1 %".599", label %"body.14", label %"done.14"
body.14:
  br label %"loop.15"
done.14:
  br label %"end.3"
loop.15:
  %"i.15" = phi  i64 [%".594", %"body.14"], [%".627", %"body.15"]
  %".602" = icmp slt i64 %"i.15", %".597"
  br i1 %".602", label %"body.15", label %"done.15"
body.15:
  %".604" = add i64 %".197", %"i.14"
  %".605" = add i64 %".198", %"i.15"
  %".606" = mul i64 %"i.14", 16
  %".607" = add i64 %".606", %"i.15"
  %".608" = getelementptr inbounds i16, ptr %".205", i64 %".607"
  %".609" = load i16, ptr %".608", align 2
  %".610" = zext i16 %".609" to i32
  %".611" = shl i32 %".610", 16
  %".612" = bitcast i32 %".611" to float
  %".613" = mul i64 %".604", 16
  %".614" = add i64 %".613", %".605"
  %".615" = getelementptr inbounds i16, ptr %".23", i64 %".614"
  %".616" = bitcast float %".612" to i32
  %".617" = lshr i32 %".616", 16
  %".618" = and i32 %".617", 1
  %".619" = add i32 %".618", 32767
  %".620" = add i32 %".616", %".619"
  %".621" = fcmp uno float %".612", %".612"
  %".622" = or i32 %".616", 4194304
  %".623" = select  i1 %".621", i32 %".622", i32 %".620"
  %".624" = lshr i32 %".623", 16
  %".625" = trunc i32 %".624" to i16
  store i16 %".625", ptr %".615", align 2
  %".627" = add i64 %"i.15", 1
  br label %"loop.15"
done.15:
  %".629" = add i64 %"i.14", 1
  br label %"loop.14"
}
